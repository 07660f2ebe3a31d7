// Fault → test: the table of what supervisor and worker must survive, by its numbers, with the titles of the tests as they are written there.
// requirements.test.ts fails on a number without a test, on an entry whose test is not there, and on a title whose number is not in its entry.
// Tests of the folders `faults` and `owners` run in `.ci/run` and by scripts of their own; all others in `npm test`.
import type { Requirement } from './requirements.ts';

/** Those that the table leaves out. */
const LEFT_OUT = [8, 22, 25, 28, 32, 42, 46];
const LAST = 52;
export const FAULT_NUMBERS = Array.from({ length: LAST }, (_, index) => index + 1).filter(
  (number) => !LEFT_OUT.includes(number),
);

export const FAULTS: readonly Requirement[] = [
  {
    id: 'fault 1',
    tests: ['starts the worker again after SIGKILL (1)', 'refuses nobody while a killed worker is replaced (1)'],
  },
  {
    id: 'fault 2',
    tests: [
      'waits 0, 1, 4, 16 s after the first four deaths, and fails at the fifth (2, W3)',
      'ends in failed when each worker is killed as soon as it is up (2)',
      'wait 0, 1, 4, 16 s when each worker is killed as soon as it is up, and end in failed (2)',
    ],
  },
  {
    id: 'fault 3',
    tests: [
      'ends in failed after 5 starts of a worker that dies at start, with its last words (3)',
      'end a loop of crashes after 5 starts, with at most 1 s of CPU: ${worker} (${row})',
    ],
  },
  {
    id: 'fault 4',
    tests: [
      'ends in failed after 5 starts of a worker that dies once it is up (4)',
      'end a loop of crashes after 5 starts, with at most 1 s of CPU: ${worker} (${row})',
    ],
  },
  {
    id: 'fault 5',
    tests: [
      'lets a crash after two minutes of health wait as the first one does, and a sooner one longer (5, W3)',
      'fails by the same limit when ${health} of health end in a worker that dies at start (5)',
      'end a loop of crashes after 5 starts, with at most 1 s of CPU: ${worker} (${row})',
    ],
  },
  { id: 'fault 6', tests: ['comes back by itself when the cause goes away while it waits (6)'] },
  {
    id: 'fault 7',
    tests: [
      'starts at once after 51 of a worker that was up, and counts it as requested (7)',
      'refuses and cuts nobody over a restart from the Console (7)',
    ],
  },
  { id: 'fault 9', tests: ['counts 75 before up as a crash (9)'] },
  { id: 'fault 10', tests: ['stops with a worker that ends with 0 (10)'] },
  {
    id: 'fault 11',
    tests: [
      'fails at once on 78, with file, line and key (11)',
      'starts nothing with a wrong configuration, and makes no file (11, N1)',
    ],
  },
  {
    id: 'fault 12',
    tests: [
      'is set with a start, which is killed at it, and counts for nothing from then on (12)',
      'ends a worker that is never up, and counts it (12)',
      'end a worker that is never up at 30 s (12)',
    ],
  },
  {
    id: 'fault 13',
    tests: [
      'of a running worker is counted from its last heartbeat; the report comes first, then the kill (13)',
      'replaces a worker whose event loop is blocked, after a report (13)',
      'is hung after the watchdog, but not when the machine had slept (13, 47)',
      'in a loop is replaced, and the report has its stack, without a secret of it (13)',
      'in a call of the system is replaced; the report says where it waits (13)',
    ],
  },
  {
    id: 'fault 14',
    tests: [
      'stops within the time for a drain though the worker is blocked (14)',
      'stops when it is told to, within the time for a drain (14)',
    ],
  },
  {
    id: 'fault 15',
    tests: [
      'is set with a drain that begins with ${what} (15)',
      'kills a worker that ignores SIGTERM when its time is over (15)',
      'kill a worker that ignores SIGTERM at 8 s (15)',
    ],
  },
  {
    id: 'fault 16',
    tests: [
      'takes SIGSTOP of the worker for hung (16)',
      'by SIGSTOP is replaced; the report says that it was stopped (16)',
    ],
  },
  {
    id: 'fault 17',
    tests: [
      'takes the worker ${worker} with it, and the port is free (17, 18)',
      'is gone within 50 ms by the kernel: ${worker} (${row})',
    ],
  },
  {
    id: 'fault 18',
    tests: [
      'takes the worker ${worker} with it, and the port is free (17, 18)',
      'is gone within 50 ms by the kernel: ${worker} (${row})',
      'is gone within 300 ms where the kernel does not help, though its loop is blocked (18)',
      'is gone within 300 ms where the kernel does not help, though it is starting and blocked (18, 21)',
    ],
  },
  {
    id: 'fault 19',
    tests: [
      'starts after it was killed, and keeps the budget of its former life (19, 24, W4)',
      'leaves nothing and starts again on its port, also over a socket and records of the dead (19, 24)',
    ],
  },
  {
    id: 'fault 20',
    tests: [
      'ends a worker that a supervisor without guards left behind (20)',
      'gets 5 s for it, then SIGKILL with its group, and only then is another one started (20)',
    ],
  },
  {
    id: 'fault 21',
    tests: [
      'leaves no process when it is killed while it starts one (21)',
      'is gone within 300 ms where the kernel does not help, though it is starting and blocked (18, 21)',
    ],
  },
  {
    id: 'fault 23',
    tests: [
      'leaves one of two that start at once (23)',
      'keeps a second one out though nothing answers for the first: its socket is gone, and it stands still (23)',
      'is one, of two that are started at once (23)',
      'make one daemon, and both tell it, ${ROUNDS} rounds 0-300 ms apart (23)',
    ],
  },
  {
    id: 'fault 24',
    tests: [
      'starts after it was killed, and keeps the budget of its former life (19, 24, W4)',
      'leaves nothing and starts again on its port, also over a socket and records of the dead (19, 24)',
      'starts again at once after SIGKILL, over stale sockets and records (24)',
    ],
  },
  { id: 'fault 26', tests: ['starts with a record that is ${name}, and says so (26, 27)'] },
  {
    id: 'fault 27',
    tests: [
      'starts with a record that is ${name}, and says so (26, 27)',
      'is followed by one that signals no process that has pid and start of its worker, but in another boot (27)',
    ],
  },
  {
    id: 'fault 29',
    tests: [
      'tells projects apart whose paths share their first 110 characters (29)',
      'reach their own daemon, beside a host in the foreground whose path begins the same (29)',
      'reach a host in the foreground by its own socket, whatever its owner (29)',
    ],
  },
  {
    id: 'fault 30',
    tests: [
      'stops when .svc is ${loss} while it runs, and says so in a new one (30)',
      'stops when .svc is ${loss} while it runs, says so, and leaves the project to another (30)',
    ],
  },
  {
    id: 'fault 31',
    tests: [
      'makes its socket anew within 5 s when that was removed, and goes on (31)',
      'is told apart from its worker when its control socket is gone, and has it again (31)',
    ],
  },
  {
    id: 'fault 33',
    tests: [
      'counts 10,000 lines that it does not take, and goes on by itself with one line about them (33, 34)',
      'holds whole lines alone, though the last room took a part of one (33)',
      'refuses deliveries before the database fails, through no room at all, and the log goes on (33, 34)',
      'ends nobody when it is full, through 10,000 lines and a restart, and is told in the log afterwards (33, 34, 35, 36)',
    ],
  },
  {
    id: 'fault 34',
    tests: [
      'counts 10,000 lines that it does not take, and goes on by itself with one line about them (33, 34)',
      'refuses deliveries before the database fails, through no room at all, and the log goes on (33, 34)',
      'ends nobody when it is full, through 10,000 lines and a restart, and is told in the log afterwards (33, 34, 35, 36)',
    ],
  },
  {
    id: 'fault 35',
    tests: [
      'ends nobody when it is full, through 10,000 lines and a restart, and is told in the log afterwards (33, 34, 35, 36)',
    ],
  },
  {
    id: 'fault 36',
    tests: [
      'ends nobody when it is full, through 10,000 lines and a restart, and is told in the log afterwards (33, 34, 35, 36)',
    ],
  },
  {
    id: 'fault 37',
    tests: [
      'holds up no rotation for ever when it has no inodes, and is told once (37)',
      'goes on in the same file, which is told once, while ${what} (37)',
      'goes on in the old file while there is no descriptor for the new one, and loses nothing (37: EMFILE)',
      'is tried again within the budget, and starts once there is room (37: EMFILE)',
      'takes what waited once its folder is there (37)',
    ],
  },
  {
    id: 'fault 38',
    tests: [
      'are all in the log, in order, after ${end} (38)',
      'is told as what it was, counted, and got over; last words are kept (38)',
    ],
  },
  {
    id: 'fault 39',
    tests: [
      'takes 300 MB/s of printed lines, stamped and masked (39)',
      'grows by 5 MB at most over 200 MB (39)',
      'takes JSON lines with redaction half as fast as pino takes them without, or faster (39)',
      'lets 99 of 100 requests be answered within 20 ms meanwhile (39)',
    ],
  },
  {
    id: 'fault 40',
    tests: ['loses and tears no line at full speed, 20 times, and takes at most 5 ms (40)'],
  },
  {
    id: 'fault 41',
    tests: [
      'is done while no worker is there; the next one writes to the new file (41)',
      'is done while the worker is blocked, which writes to the new file once it can (41)',
    ],
  },
  {
    id: 'fault 43',
    tests: [
      'is followed by one that first ends what that worker has left in its group (43)',
      'ends the whole group of a worker before the next start (43)',
      'has ended as a whole before the next start, when the worker ${how} (43)',
      'has ended as a whole before a stop with --now is answered (43)',
    ],
  },
  {
    id: 'fault 44',
    tests: [
      'names the grandchild in a session of its own that still holds the port (44)',
      'ends in failed, naming the grandchild that shares the held port, when the worker ${how} (44)',
    ],
  },
  {
    id: 'fault 45',
    tests: [
      'names who holds the port, and ends in failed (45)',
      'tries three times in 3 s, spends no start on that, and is failed naming the stranger (45)',
      'moved to a port that is taken, ends in failed naming its holder, and recovers on command (45)',
    ],
  },
  {
    id: 'fault 47',
    tests: [
      'of a start is renewed by a sleep of the machine (47)',
      'takes a timer that is late by more than 2 s for a sleep of the machine (47)',
      'is hung after the watchdog, but not when the machine had slept (13, 47)',
      'does not take a sleep of the machine for a hung worker (47)',
      'take no sleep of the machine for a hung worker, longer than the watchdog (47)',
    ],
  },
  {
    id: 'fault 48',
    tests: [
      'goes on when the command that started it is killed (48)',
      'goes on when the terminal that it was started from hangs up (48)',
    ],
  },
  { id: 'fault 49', tests: ['says the cause at once, with 1, where it cannot start: ${what} (49)'] },
  {
    id: 'fault 50',
    tests: [
      'takes garbage, half lines, too many clients and slow readers without growing or failing others (50)',
      'turns away who comes above its limit of clients, and takes another one once there is room (50, L2)',
      'cuts a client that asks on and reads no answer (50, L2)',
    ],
  },
  { id: 'fault 51', tests: ['of ${AT_ONCE} at once beside a running daemon, which goes on undisturbed (51)'] },
  {
    id: 'fault 52',
    tests: [
      'leave systemd-analyze verify without a word: ${name}',
      'have an exposure of ${points} at most, and a threshold that catches one option less: ${name}',
      'comes back after SIGKILL, and no connection is refused meanwhile',
      'comes back after 51: a restart that was asked for',
      'comes back after 75: a restart that the runtime needs',
      'does not come back after 78: the configuration is invalid',
      'fails after five starts, and its address is refused then',
      { file: 'kits/owners/systemd.test.ts', title: 'replaces a worker that is stopped in its tracks' },
      { file: 'kits/owners/user-manager.test.ts', title: 'replaces a worker that is stopped in its tracks' },
      'stops with 0 after a drain, with its socket',
      'refuses no connection of 200 a second over SIGKILL; what the dead worker had accepted alone is cut',
      'refuses and cuts no connection of 200 a second over ${code}',
      'comes back after ${code}',
      'fails after five starts, closes its address, and starts again for an operator',
      'is as little exposed as a manager without root can have it',
      'installs an agent that launchd understands, and starts nothing',
      'has its agent checked by a schema that catches a misspelt key',
      'starts an agent that is not loaded with bootstrap, a loaded one with kickstart, and clears the restart window',
      'stops with bootout, and only what is loaded',
      'is installed already the second time, and shows what differs after a change',
      'is started again unless it ended with 0, and at most each 10 s',
    ],
  },
];
