// Section 1 of the contract, identity and processes: what contract-requirements.ts does not hold of it → tests.
import type { Requirement } from './requirements.ts';

export const PROCESSES: readonly Requirement[] = [
  {
    id: 'contract 1: projectId is made once, stored with the state, and in the source of events',
    tests: [
      'keeps its identity',
      'says hello, goes live and follows commits in order',
      'holds the whole envelope for full scope',
    ],
  },
  {
    id: 'contract 1: the supervisor imports no worker code',
    tests: [
      'by the supervisor, nor any package',
      'give the supervisor nothing but node: modules',
      'hold for ${rule.name}',
    ],
  },
  {
    id: 'contract 1: the supervisor owns log, control socket and listening socket',
    tests: [
      'is held by the supervisor, says status, and closed once nobody waits for a worker',
      'is told apart from its worker when its control socket is gone, and has it again (31)',
      'loses and tears no line at full speed, 20 times, and takes at most 5 ms (40)',
    ],
  },
  {
    id: 'contract 1: runtimeId is a new UUIDv7 of each worker, in lines, events and reports',
    tests: [
      'is a UUIDv7: of its version, in the order in which they are made, no two alike',
      'is not touched by a paused ingress, and its report says since when each check says what it says',
      'starts, says how it is, takes work, restarts, reloads, shows its log, and stops',
      'writes one JSON line with ISO time, level name, project and runtimeId, in a file of mode 0600',
      'holds the whole envelope for full scope',
      'in a loop is replaced, and the report has its stack, without a secret of it (13)',
    ],
  },
  {
    id: 'contract 1: the number of a generation only grows, over restarts',
    tests: [
      'gives a higher number, also after a restart',
      'tells of the start before it in the status, and of the first one nothing',
      'a generation serves at most once, after its commit, and never after it failed (G1, G2)',
    ],
  },
  {
    id: 'contract 1: an epoch is one timeline; one that was written over begins a new one',
    tests: [
      'keeps its identity',
      'reads back what it writes and nothing else (C1)',
      'begins a new timeline, once: its numbers would be given to other events',
      'that is written over in place with an older copy begins a new timeline of events, and keeps it',
    ],
  },
  {
    id: 'contract 1: what is only not ready ends no process',
    tests: [
      'comes up without a database, says so, and begins when one opens',
      'is full, and has room again',
      'flips within two seconds, each way, when a required account is disabled and enabled',
      'that fail hold back neither the start nor another, and heal by themselves',
    ],
  },
  {
    id: 'contract 1: start --daemon beside a healthy one is done already; of another configuration it is not',
    tests: [
      'starts, says how it is, takes work, restarts, reloads, shows its log, and stops',
      'follows a configuration that a reload, or a restart, took in',
    ],
  },
  {
    id: 'contract 1: the writer lock is the authority, and nothing opens it past SQLite',
    tests: [
      'is had by one, and needs no room for a journal (A1)',
      'keeps its lock whatever it is asked, and files that only its owner can read',
      'takes up nothing while the killed one is not reaped, however long that takes',
    ],
  },
  {
    id: 'contract 1: modes: development watches, a daemon and npm start do not',
    tests: [
      'serves what was saved: TypeScript, a file that it imports, configuration and .env; refuses what is broken and goes on',
      'needs a restart in production, and so does the lockfile',
      'makes a project whose configuration loads in production',
      'starts Node by exec and asks for Node 22.12',
      'refuses a mode that is none',
    ],
  },
  {
    id: 'contract 1: in the foreground logs go to stdout and codes to the owner',
    tests: [
      'writes its log as lines of JSON with --json, on a terminal too',
      'under systemd exits 51 for a restart, and leaves stopping to its owner',
      'ends with the code of its worker: 51, and 78',
    ],
  },
  {
    id: 'contract 1: a daemon has a session of its own and no terminal',
    tests: [
      'goes on when the terminal that it was started from hangs up (48)',
      'goes on when the command that started it is killed (48)',
    ],
  },
  {
    id: 'contract 1: 1 of restart, reload and logs with nothing running; 0 of stop',
    tests: ['starts, says how it is, takes work, restarts, reloads, shows its log, and stops'],
  },
  {
    id: 'contract 1: a thread of the store that cannot be replaced is 75',
    tests: ['that is gone cannot be replaced: nothing is taken, and the worker ends with 75'],
  },
  {
    id: 'contract 1: a second SIGTERM is the same request',
    tests: [
      'serves the same commands, and ends with 0 on SIGTERM',
      'ask for one drain; a second SIGINT on a terminal ends at once (B2)',
    ],
  },
  {
    id: 'contract 1: starts are counted by a monotonic clock, over the death of a supervisor',
    tests: [
      '${name} moves neither the window nor a delay nor the watchdog',
      'keeps the window of a supervisor that died (D2)',
      'starts after it was killed, and keeps the budget of its former life (19, 24, W4)',
      'forgets a start exactly when it is the span old (W1)',
    ],
  },
  {
    id: 'contract 1: back to no delay after a long run; up to a tenth is added',
    tests: ['counts crashes from one again after a long run, and spreads delays by a tenth (W3)'],
  },
  {
    id: 'contract 1: before up 51 and 75 are crashes',
    tests: [
      'counts 75 before up as a crash (9)',
      'takes 51 and 75 for requests only of a worker that had been up (E2)',
    ],
  },
  {
    id: 'contract 1: failed: no worker, no port, the last exits with their lines',
    tests: [
      'is closed in failed, where connections would wait for nothing',
      'ends in failed after 5 starts of a worker that dies at start, with its last words (3)',
      'names state, since when and why, budget, spare, and each end with its last words',
    ],
  },
  {
    id: 'contract 1: without a heartbeat, over its drain, it is ended with its group',
    tests: [
      'replaces a worker whose event loop is blocked, after a report (13)',
      'kills a worker that ignores SIGTERM when its time is over (15)',
      'ends the whole group of a worker before the next start (43)',
      'are 30 s to be up, 15 s of silence, 2 s for a report, 8 s for a drain, 5 starts in 120 s, delays of 0, 1, 4, 16 s',
    ],
  },
  {
    id: 'contract 1: svc_restarts_total, status and ledger tell the same of starts, whatever the owner',
    tests: [
      'tells of the start before it in the status, and of the first one nothing',
      'keeps its newest rows; the others are counted on, in status and metrics (L1)',
      'tells in the ledger that the worker was killed, and lists its end among the others',
    ],
  },
  {
    id: 'contract 1: restart returns when the new worker is ready',
    tests: [
      'starts, says how it is, takes work, restarts, reloads, shows its log, and stops',
      'ends with 51 for a restart, which returns when its owner has started another one',
    ],
  },
];
