// Each key of the configuration, and what stands in front of the table of keys (section 2 of the contract) → tests that show what it does.
// requirements.test.ts compares the keys with the schema: one that is added there needs an entry here.
import type { Requirement } from './requirements.ts';

/** Keys of the contract whose feature is not there: they are in the schema with it, not before. */
export const WITHOUT_KEY: Readonly<Record<string, string>> = {
  'key agents': 'no agents',
  'key workroom.store': 'no Workroom',
};

const DEFAULTS = 'fills in every default';
const LOG_DEFAULTS = 'is kept in five files of 20 MiB, and an end with its last 20 lines';
const TIMES =
  'are 30 s to be up, 15 s of silence, 2 s for a report, 8 s for a drain, 5 starts in 120 s, delays of 0, 1, 4, 16 s';
const HTTP_KEYS = 'base, demoToken, tokens and corsOrigins decide what is where and for whom';
const RETENTION = 'erases texts, then ids and sent messages after their days; dead letters stay, dropped ones do not';

export const KEYS: readonly Requirement[] = [
  {
    id: 'contract 2: all faults at once, with places',
    tests: ['tells all faults at once, in the order of the file'],
  },
  {
    id: 'contract 2: a wrong file is 78 with place, path, what was expected and the nearest key, before anything is made',
    tests: [
      'ends in 78 with a line a fault',
      'prints one document, good or bad',
      'finds the word with the fewest edits',
      'starts nothing with a wrong configuration, and makes no file (11, N1)',
      'tells all faults with line, column and the nearest key (P3)',
    ],
  },
  {
    id: 'contract 2: ${NAME}, ${NAME:-default}, types, and what is not set',
    tests: [
      'takes the default for what is unset or empty',
      'splits texts around references',
      'gives references the type that the schema asks for (P1)',
      'reads numbers and booleans strictly',
      'names key and variable of an unset reference',
      'takes an unset secret in test mode, and no other unset variable',
    ],
  },
  {
    id: 'contract 2: secrets show as ${NAME}, everywhere',
    tests: [
      'prints values with their sources, and no secret',
      'masks a secret that was written as it is',
      'is told without its value, whatever else is wrong there',
      'shows no value of the environment (P3)',
      'does not show what a variable holds',
    ],
  },
  {
    id: 'contract 2: init writes the plain subset of .env, doctor warns of another',
    tests: [
      'reads the plain subset without a warning (E2)',
      'warns of ${JSON.stringify(line)} with its line, without its value (E2)',
      'looks at .env also where its quotes are what makes the configuration invalid (env.format)',
    ],
  },
  {
    id: 'contract 2: selectors and names of endpoints',
    tests: [
      'find an endpoint by its short name and by its full id, slashes as they are',
      'takes an endpoint in full or by its short name',
      'says hello, goes live and follows commits in order',
      'flips within two seconds, each way, when a required account is disabled and enabled',
    ],
  },
  {
    id: 'contract 2: runtimeId, runtimeid, runtime_id',
    tests: [
      'writes one JSON line with ISO time, level name, project and runtimeId, in a file of mode 0600',
      'holds the whole envelope for full scope',
      'are valid text, carry the project, and have the names of the contract',
    ],
  },
  {
    id: 'contract 2: what a reload takes in, and what it cannot',
    tests: [
      'takes in new tokens with the settings, and tells which streams are to end',
      'needs a restart in production, and so does the lockfile',
      'needs a restart for keys that a running process cannot take in',
      'needs a restart when a plugin comes back that this process has loaded before, as it was then',
      'runs after a reload in development',
      'after the lockfile changed in watch mode is a restart',
    ],
  },

  { id: 'key log_level', tests: [DEFAULTS, 'is obeyed at the start and taken in by a reload'] },
  { id: 'key host.kind', tests: [DEFAULTS, 'takes no unknown key outside of plugins (C2)'] },
  {
    id: 'key host.name',
    tests: [DEFAULTS, HTTP_KEYS, 'makes a plain name of a package or folder that holds control characters'],
  },
  {
    id: 'key http.host',
    tests: [
      DEFAULTS,
      'takes addresses, networks and origins that are exact',
      { file: 'unit/config/load.test.ts', title: 'refuses ${name}', cases: ['a host name'] },
      'warns of every address outside a container (http.bind)',
      'binds another address of the machine, and IPv6 where there is one',
    ],
  },
  {
    id: 'key http.port',
    tests: [DEFAULTS, 'refuses port 0 and port 65536 (row 48)', 'moves to another port with a restart'],
  },
  {
    id: 'key http.publicUrl',
    tests: [
      'prints the path where the public address is not configured, and says so',
      'are made where people reach the host, and for stored files alone',
    ],
  },
  { id: 'key http.base', tests: [DEFAULTS, HTTP_KEYS, 'works with the keyboard alone, and below a base path'] },
  {
    id: 'key http.token',
    tests: [
      {
        file: 'unit/config/tokens.test.ts',
        title: 'ends in 78 for ${name}',
        cases: ['a missing token', 'an empty token', 'the example value', 'a literal', 'a default'],
      },
      'only warns in test mode, with a value that nobody can guess',
      'warns of eight characters on loopback',
    ],
  },
  {
    id: 'key http.demoToken',
    tests: [HTTP_KEYS, 'refuses the demo token on every route that changes something, and changes nothing (row 7)'],
  },
  { id: 'key http.tokens', tests: [HTTP_KEYS, 'takes named tokens'] },
  {
    id: 'key http.corsOrigins',
    tests: [
      HTTP_KEYS,
      'tells all faults at once, in the order of the file',
      'answers preflights with fixed lists, to listed origins alone (rows 16, 17)',
      'lets the header, the subprotocol pair, the own and a listed origin in (row 38)',
    ],
  },
  {
    id: 'key http.trustedProxies',
    tests: [
      'counts wrong tokens by the client behind a trusted proxy, right-most untrusted hop',
      'ignores forwarded addresses from a peer that is not trusted',
    ],
  },
  {
    id: 'key http.limits.connections',
    tests: ['takes connections up to its cap, closes what comes above, and recovers (row 24)'],
  },
  {
    id: 'key http.limits.connectionsPerAddress',
    tests: [
      'limits connections of one address, never of the loopback',
      'counts requests under way of a client behind a trusted proxy',
    ],
  },
  { id: 'key http.limits.streamsPerToken', tests: [DEFAULTS, 'limits bound bodies and streams'] },
  { id: 'key http.limits.bodyBytes', tests: ['limits bound bodies and streams'] },
  {
    id: 'key http.readiness.database',
    tests: [
      'asks for a committed generation and a database',
      'is not ready without a database, even where that is not asked for',
    ],
  },
  {
    id: 'key http.readiness.endpoints',
    tests: [
      'flips within two seconds, each way, when a required account is disabled and enabled',
      'warns of a required endpoint that nothing here brings up',
    ],
  },
  {
    id: 'key http.readiness.agents',
    tests: [
      'names what is missing and what to do about it',
      'warns of a required agent binding, which nothing can bring up yet',
    ],
  },
  { id: 'key database.dialect', tests: [DEFAULTS] },
  {
    id: 'key database.filename',
    tests: [
      DEFAULTS,
      'may be a path from the root',
      'is counted, and what comes in is refused while that disk has too little room',
    ],
  },
  {
    id: 'key plugins',
    tests: [
      'keeps the order of slots and the values of plugins',
      'is found by its name, scoped or not, in development and in production',
      'tells the place of ${what} that names no plugin, and the nearest name',
      'fills in defaults and leaves the keys of the host out',
      'are left alone where the configuration says so, and connected by a reload once it does not',
      'checks an account by its own keys',
    ],
  },
  { id: 'key commands.prefix', tests: ['prefix and operators decide what is a command and for whom'] },
  {
    id: 'key commands.operators',
    tests: ['prefix and operators decide what is a command and for whom', 'is for those whom it names'],
  },
  {
    id: 'key inbox.bodyDays',
    tests: [RETENTION, 'erases texts, and forgets events and deliveries after their days, not before'],
  },
  {
    id: 'key inbox.idDays',
    tests: [
      RETENTION,
      'remembers deliveries over a clock that is a year ahead for a day, and over restarts meanwhile (K2)',
    ],
  },
  {
    id: 'key inbox.maxAttempts',
    tests: ['maxAttempts is how often a line is tried before it is a dead letter'],
  },
  {
    id: 'key inbox.maxPending',
    tests: [
      'maxPending and maxPendingBytes bound what waits: 503 with a time to come back, and room again afterwards',
      'is filled by one account to its bound alone, and takes and handles what comes for the other, also after a kill',
    ],
  },
  {
    id: 'key inbox.maxPendingBytes',
    tests: ['maxPending and maxPendingBytes bound what waits: 503 with a time to come back, and room again afterwards'],
  },
  {
    id: 'key inbox.quarantineSeconds',
    tests: [
      'is set aside for inbox.quarantineSeconds, for longer after further deaths, and a dead letter at the bound',
    ],
  },
  { id: 'key inbox.concurrency', tests: ['are as many as inbox.concurrency in all'] },
  {
    id: 'key inbox.endpointConcurrency',
    tests: ['are as many as inbox.endpointConcurrency of one account, and the other has its own'],
  },
  { id: 'key outbox.days', tests: [RETENTION] },
  {
    id: 'key outbox.maxAttempts',
    tests: ['comes again with the same key after what the platform says or backoff says, and ends as a dead letter'],
  },
  {
    id: 'key outbox.onUnknown',
    tests: [
      'sends again after a death in the call, with the same key; holds where it is told to',
      'never calls twice where it is told to hold; a person decides',
    ],
  },
  { id: 'key files.days', tests: ['stay while they are young or anything stored names them, and go after their days'] },
  { id: 'key files.maxFileBytes', tests: ['are refused over files.maxFileBytes'] },
  { id: 'key files.linkHours', tests: ['hold digest, a plain name and an end, and are taken back until then'] },
  ...['maxEvents', 'maxBytes', 'maxAgeHours'].map((name) => ({
    id: `key events.history.${name}`,
    tests: [DEFAULTS, 'trims by events, bytes and age and keeps the number of the oldest (T1)'],
  })),
  {
    id: 'key schedule.timezone',
    tests: [
      'tells all faults at once, in the order of the file',
      "${at} in ${zone} from ${from} runs at ${expected.join(', ')}",
    ],
  },
  {
    id: 'key supervisor.restarts',
    tests: [
      DEFAULTS,
      TIMES,
      'follows a configuration that a reload, or a restart, took in',
      'takes new limits without a step, and keeps to them from then on',
    ],
  },
  {
    id: 'key supervisor.windowSeconds',
    tests: [DEFAULTS, TIMES, 'knows as many starts as a longer window or a larger limit may ask for'],
  },
  { id: 'key supervisor.upTimeoutSeconds', tests: [TIMES, 'ends a worker that is never up, and counts it (12)'] },
  {
    id: 'key supervisor.watchdogSeconds',
    tests: [TIMES, 'replaces a worker whose event loop is blocked, after a report (13)'],
  },
  {
    id: 'key supervisor.stopTimeoutSeconds',
    tests: [
      TIMES,
      'ends with the code that was asked for when a drain runs over its time, names what was cut, and does that again',
    ],
  },
  {
    id: 'key supervisor.log.maxBytes',
    tests: [LOG_DEFAULTS, 'goes little over its limit at ${kibASecond} KiB a second'],
  },
  { id: 'key supervisor.log.maxFiles', tests: [LOG_DEFAULTS, 'keeps as many files as it is told to'] },
  {
    id: 'key supervisor.standby',
    tests: ['opens no store, takes the place of a killed one with nobody refused, and is followed by another'],
  },
  {
    id: 'key disk.maxBytes',
    tests: ['counts a database that lies elsewhere, with its log'],
  },
  {
    id: 'key disk.minFreeBytes',
    tests: ['refuses deliveries and is not ready while it is used up, and is as before when there is room'],
  },
];
