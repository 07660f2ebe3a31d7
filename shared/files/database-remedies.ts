// What helps where the database file is not what it was. One remedy a fault, whoever finds it: the host, a start, `svc doctor`.

/** It is there and cannot be read as a database. With its log, since a log beside a file that is gone is never taken for a beginning. */
export const DAMAGED_REMEDY =
  'stop the host, move the damaged file away together with its -wal and -shm, and put back the last copy that was made of it while the host was stopped; without one a start begins with an empty history';

/** It is gone, or another one lies in its place. */
export const LOST_REMEDY =
  'put the file back as it was; or stop the host and put back the last copy that was made of it while the host was stopped';

/** Its rights keep it from being read. */
export const RIGHTS_REMEDY = 'make .svc/ and its files readable and writable for this user';
