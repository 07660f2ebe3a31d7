// What the contract promises without condition → tests, by its sections; `requirements.ts` has those of hostile inputs and faults,
// and the promises of HTTP and events that go with them.
import type { Requirement } from './requirements.ts';

export const CONTRACT: readonly Requirement[] = [
  {
    id: 'contract 1: up and ready are two things',
    tests: [
      'comes up without a database, says so, and begins when one opens',
      'is garbage at the start: up, not ready, nothing taken, and the file is left as it is',
    ],
  },
  {
    id: 'contract 1: one live worker, a second start is refused with pid and owner',
    tests: [
      'is one, of two that are started at once (23)',
      'starts, says how it is, takes work, restarts, reloads, shows its log, and stops',
      'keeps its lock whatever it is asked, and files that only its owner can read',
    ],
  },
  {
    id: 'contract 1: no stale file or reused pid blocks a start',
    tests: [
      'starts again at once after SIGKILL, over stale sockets and records (24)',
      'knows this process, and not another one of its number',
    ],
  },
  {
    id: 'contract 1: the same commands under every owner',
    tests: ['serves the same commands, and ends with 0 on SIGTERM', 'stops by command'],
  },
  {
    id: 'contract 1: start --daemon returns 0 when ready, 1 with reasons, 78 with nothing started',
    tests: [
      'starts, says how it is, takes work, restarts, reloads, shows its log, and stops',
      'ends with 1 and the reasons when the host is up and not ready in time; the daemon stays',
      'starts nothing with a wrong configuration, and makes no file (11, N1)',
    ],
  },
  {
    id: 'contract 1: project lookup',
    tests: ['is the nearest folder above that holds svc.config.yml, or the one that is named'],
  },
  {
    id: 'contract 1: exit 0, 1, 3 of commands',
    tests: [
      'starts, says how it is, takes work, restarts, reloads, shows its log, and stops',
      'is nothing that runs: status ends with 3',
    ],
  },
  { id: 'contract 1: exit 2', tests: ['answers wrong usage with 2, one line and the nearest valid word'] },
  { id: 'contract 1: exit 51', tests: ['under systemd exits 51 for a restart, and leaves stopping to its owner'] },
  {
    id: 'contract 1: exit 75',
    tests: ['ends with 75 when the lockfile changes, for whoever starts it again', 'ends with 75 where it is asked to'],
  },
  { id: 'contract 1: exit 78', tests: ['ends with 78 and file, line and key for a wrong configuration'] },
  {
    id: 'contract 1: exit 130',
    tests: ['drains at the first Ctrl-C of a terminal and ends at once with 130 at the second'],
  },
  {
    id: 'contract 1: a drain over its time keeps its code and names what was cut',
    tests: [
      'ends with the code that was asked for when a drain runs over its time, names what was cut, and does that again',
    ],
  },
  {
    id: 'contract 1: delays 0, 1, 4, 16 s',
    tests: ['waits 0, 1, 4, 16 s after the first four deaths, and fails at the fifth (2, W3)'],
  },
  {
    id: 'contract 1: 51 over the budget is deferred, never failed',
    tests: ['defers a loop of 51 until the oldest start leaves the window, and never fails (8)'],
  },
  {
    id: 'contract 1: up in time, or a crash',
    tests: [
      'ends a worker that is never up, and counts it (12)',
      'gives a start that makes progress its full time again',
    ],
  },
  {
    id: 'contract 1: failed takes a restart with a new budget',
    tests: ['leaves failed on restart, with a new budget'],
  },
  {
    id: 'contract 1: windows under launchd and in a container',
    tests: [
      'ends the sixth start within the window with 0, so that launchd lets it be',
      'waits without a port where its restart window is spent, until the oldest start has left it',
    ],
  },
  {
    id: 'contract 1: each start is a row in a ledger',
    tests: [
      'is kept over restarts, newest first',
      'leaves no end in the ledger: that of the one before it is told as it was',
      'tells of the start before it in the status, and of the first one nothing',
    ],
  },
  {
    id: 'contract 1: stop is refused where the owner would start it again',
    tests: ['is the owner for whoever shares its project: a start and a stop from outside are refused with its name'],
  },
  {
    id: 'contract 1: an old supervisor with a newer worker or command',
    tests: [
      'of an older version works with a newer worker and command, says that it should be renewed, and is',
      'lets a worker that names no `listen` bind its address, over restarts, and says so',
    ],
  },
  {
    id: 'contract 2: one schema, for editors too',
    tests: [
      'takes no unknown key outside of plugins (C2)',
      'refuses literals for secrets, unknown keys, wrong types, and a file without a token',
      'exports the schema of the configuration',
    ],
  },
  {
    id: 'contract 2: references',
    tests: [
      'gives a value that is one reference the type of its key',
      'names key and variable of an unset reference',
      'does not let a variable bring YAML in',
    ],
  },
  {
    id: 'contract 2: secrets are references alone, and are never shown',
    tests: [
      'refuses secrets that are literals, defaults or empty (P2)',
      'prints values with their sources, and no secret',
      'of every kind are in no answer, stream, log or file, whatever a plugin does with them (row 41)',
    ],
  },
  {
    id: 'contract 2: .env',
    tests: [
      'lets the process environment win (E1)',
      'reads the plain subset without a warning (E2)',
      'ends a production start when others can read the file, and warns elsewhere (E3)',
    ],
  },
  {
    id: 'contract 2: tokens and .env are read again at each reload',
    tests: [
      'takes in new tokens with the settings, and tells which streams are to end',
      'serves what was saved: TypeScript, a file that it imports, configuration and .env; refuses what is broken and goes on',
    ],
  },
  { id: 'contract 2: log_level', tests: ['is obeyed at the start and taken in by a reload'] },
  {
    id: 'contract 2: keys of http',
    tests: [
      'base, demoToken, tokens and corsOrigins decide what is where and for whom',
      'limits bound bodies and streams',
      'limits connections of one address, never of the loopback',
      'counts wrong tokens by the client behind a trusted proxy, right-most untrusted hop',
    ],
  },
  {
    id: 'contract 2: http.readiness',
    tests: [
      'flips within two seconds, each way, when a required account is disabled and enabled',
      'is not ready without a database, even where that is not asked for',
      'for accounts and bindings that readiness asks for and nothing has',
    ],
  },
  {
    id: 'contract 2: plugins come built in, from a package, from the project',
    tests: [
      'is found by its name, scoped or not, in development and in production',
      'says nothing of production where everything would hold',
    ],
  },
  { id: 'contract 2: commands', tests: ['prefix and operators decide what is a command and for whom'] },
  {
    id: 'contract 2: inbox',
    tests: [
      'maxPending and maxPendingBytes bound what waits: 503 with a time to come back, and room again afterwards',
      'maxAttempts is how often a line is tried before it is a dead letter',
      'erases texts, then ids and sent messages after their days; dead letters stay, dropped ones do not',
      'are as many as inbox.endpointConcurrency of one account, and the other has its own',
      'are as many as inbox.concurrency in all',
    ],
  },
  {
    id: 'contract 2: outbox',
    tests: [
      'comes again with the same key after what the platform says or backoff says, and ends as a dead letter',
      'sends again after a death in the call, with the same key; holds where it is told to',
    ],
  },
  {
    id: 'contract 2: events.history',
    tests: ['trims by events, bytes and age and keeps the number of the oldest (T1)'],
  },
  {
    id: 'contract 2: reload in production and in development',
    tests: ['needs a restart in production, and so does the lockfile', 'runs after a reload in development'],
  },
  {
    id: 'contract 3: restart is refused without an owner, and over the limit of systemd',
    tests: [
      'refuses a restart that nobody would make, and asks for one that an owner makes',
      'refuses a restart that systemd would count as one failure too many, and says when to come back',
    ],
  },
  {
    id: 'contract 3: reload is 409 with the reasons, the old one stays',
    tests: ['answers with the number, or 409 with the reasons; the old one serves on'],
  },
  {
    id: 'contract 3: ingress parks and rejects, over restarts',
    tests: [
      'parks over a restart, and handles what was parked when it is resumed',
      'rejects what a connection brings in as well, and stores nothing of it',
      'opens by itself at the time that was said, over a restart too',
    ],
  },
  {
    id: 'contract 3: the readiness report',
    tests: [
      'names what is missing and what to do about it',
      'takes an account that is admitted, connected or not',
      'flips when the database file is taken away, nothing is acknowledged meanwhile, and it heals when it is back',
    ],
  },
  {
    id: 'contract 4: every event is stored with its change',
    tests: ['numbers events strictly by one, and a refused unit takes none (H1)'],
  },
  {
    id: 'contract 4: frames and headers of the stream',
    tests: [
      'says hello, goes live and follows commits in order',
      'is one block in one chunk, whatever line breaks the data has',
      'tells clients to come back soon when it drains, and takes no more',
    ],
  },
  {
    id: 'contract 4: a slow client is a cursor that lags',
    tests: ['cuts a client that never reads, keeps memory bounded, and lets it resume exactly'],
  },
  {
    id: 'contract 4: the same history as JSON',
    tests: ['pages the same history as JSON, and says where a page cannot go on'],
  },
  {
    id: 'contract 5: .svc/ 0700, its files 0600',
    tests: [
      'keeps its lock whatever it is asked, and files that only its owner can read',
      'refuses a state folder that others can read, before it touches anything',
    ],
  },
  {
    id: 'contract 6: --json, --help, colours, closed pipes',
    tests: [
      'gives one JSON document for an error with --json',
      'has help with an example for every command',
      'has the same help as one JSON document',
      'uses no colour but on a terminal',
      'ends quietly when its reader goes away',
    ],
  },
  {
    id: 'contract 6: doctor --live',
    tests: ['prints the report unchanged, below the base, with the token', 'exits 1 on ${title}'],
  },
  {
    id: 'contract 6: --once --mode test',
    tests: [
      'of ${AT_ONCE} at once beside a running daemon, which goes on undisturbed (51)',
      'for a ${what}',
      'but with 78 for a configuration that no start would take',
    ],
  },
  {
    id: 'contract 7: metrics',
    tests: [
      'are valid text, carry the project, and have the names of the contract',
      'has a series a route and class of status, and none for what a stranger makes up',
      'puts each answer into its buckets, and into its class of status',
      'are those of this process, in bytes and seconds',
    ],
  },
];
