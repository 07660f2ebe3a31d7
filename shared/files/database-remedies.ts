// Remedies for a faulty database file: one for each fault, whether the host, a start or `svc doctor` finds it.

/** The file exists and cannot be read as a database. WAL and mark must go too: a start refuses either without its database file. */
export const DAMAGED_REMEDY =
  'stop the host, move the damaged file away together with its -wal, -shm and .known, and put back the last copy that was made of it while the host was stopped; without one a start begins with an empty history';

/** The file is gone, or another file is at its path. */
export const LOST_REMEDY =
  'put the file back as it was; or stop the host and put back the last copy that was made of it while the host was stopped';

/** The error says nothing about the file. */
export const UNKNOWN_REMEDY =
  'leave the file as it is: nothing says that it is damaged; look at the disk (dmesg), then try again';

/** The mode of the file prevents reading. */
export const RIGHTS_REMEDY = 'make .svc/ and its files readable and writable for this user';
