// Requirement → test: the hostile inputs by their number in their table, and what the contract promises without condition. The rules before that
// table are in hostile-*.ts, the contract section by section in contract-*.ts, the faults in faults.ts. requirements.test.ts fails on an entry whose
// test is not there, and on a number that has neither a test nor a reason. A new requirement is entered here with the title of its test.

export interface Requirement {
  /** `input <number>`, `fault <number>`, or the section of the contract and what it says. */
  readonly id: string;
  /** Titles of tests, as they are written there. */
  readonly tests: readonly (string | TitleIn)[];
}

/** Needed for a title that stands in more than one file. */
export interface TitleIn {
  /** Below `test/`. */
  readonly file: string;
  readonly title: string;
  /** Of a title that stands for a list of cases: those that are the requirement. */
  readonly cases?: readonly string[];
}

/** Numbers of the table of hostile inputs that there are. */
export const INPUT_COUNT = 53;

/** Sections of the hostile inputs and of the contract: what an id begins with. Those of the checklists (3.7) and of the inputs (3.8) are counted. */
export const SECTIONS: readonly string[] = [
  'hostile 3.2',
  'hostile 3.3',
  'hostile 3.4',
  'hostile 3.5',
  'hostile 3.6',
].concat([1, 2, 3, 4, 5, 6, 7].map((section) => `contract ${section}`));

/** Inputs whose feature is not there. */
export const WITHOUT_FEATURE: Readonly<Record<number, string>> = {
  42: 'no agent tools',
  43: 'no agent tools',
  44: 'no restore',
  45: 'no checkpoints',
};

export const REQUIREMENTS: readonly Requirement[] = [
  { id: 'input 1', tests: ['asks for a token with a bare challenge (row 1)'] },
  { id: 'input 2', tests: ['takes the scheme in any case (row 2)'] },
  { id: 'input 3', tests: ['tells another scheme from malformed credentials (row 3)'] },
  { id: 'input 4', tests: ['refuses two Authorization headers in both orders (row 4)'] },
  { id: 'input 5', tests: ['refuses a token in a query or a form, and logs neither (row 5)'] },
  { id: 'input 6', tests: ['refuses a part of a token, more than a token, and a huge one (row 6)'] },
  {
    id: 'input 7',
    tests: [
      'refuses the demo token on every route that changes something, and changes nothing (row 7)',
      'keeps every route that needs a token closed to none, wrong and demo tokens as its scope says (row 7)',
    ],
  },
  { id: 'input 8', tests: ['refuses the demo token on the readiness report (row 8)'] },
  {
    id: 'input 9',
    tests: ['gives a full token no way into a webhook, and a webhook secret none into the API (rows 9, 10)'],
  },
  {
    id: 'input 10',
    tests: ['gives a full token no way into a webhook, and a webhook secret none into the API (rows 9, 10)'],
  },
  { id: 'input 11', tests: ['slows down a source of wrong tokens and never a valid one (row 11)'] },
  {
    id: 'input 12',
    tests: [
      'refuses every target that has two readings, with and without a token (rows 12, 13)',
      'has nothing at other spellings of a path (row 12)',
      'never reads another path than a URL parser does (T1)',
    ],
  },
  {
    id: 'input 13',
    tests: ['refuses every target that has two readings, with and without a token (rows 12, 13)'],
  },
  {
    id: 'input 14',
    tests: ['answers a method that is not there with 405 and Allow, and does nothing (row 14)'],
  },
  { id: 'input 15', tests: ['answers HEAD like GET, without a body and without a stream (row 15)'] },
  { id: 'input 16', tests: ['answers preflights with fixed lists, to listed origins alone (rows 16, 17)'] },
  { id: 'input 17', tests: ['answers preflights with fixed lists, to listed origins alone (rows 16, 17)'] },
  {
    id: 'input 18',
    tests: ['refuses a cross-site post of plain text to a route that changes something (row 18)'],
  },
  {
    id: 'input 19',
    tests: [
      'refuses what two readers could frame differently (row 19)',
      'closes the connection after a malformed request, so that nothing smuggled behind it is read (row 19)',
    ],
  },
  { id: 'input 20', tests: ['takes no transfer coding but chunked (row 20)'] },
  { id: 'input 21', tests: ['refuses more than a hundred headers and drops none (row 21)'] },
  { id: 'input 22', tests: ['refuses a huge header and a huge target (row 22)'] },
  {
    id: 'input 23',
    tests: [
      'ends slow headers, slow bodies and silent connections, and serves others meanwhile (row 23)',
      'get 408 within their limit and a second, and others are served in time meanwhile (row 23)',
    ],
  },
  {
    id: 'input 24',
    tests: [
      'takes connections up to its cap, closes what comes above, and recovers (row 24)',
      'of 20,000 is closed above the cap, and the host has recovered within five seconds (row 24)',
    ],
  },
  {
    id: 'input 25',
    tests: [
      'refuses a body over the limit before reading it, and cuts an endless one (row 25)',
      'says 100 only to a request that will be read (row 25)',
    ],
  },
  { id: 'input 26', tests: ['takes no content coding and no other media type (row 26)'] },
  {
    id: 'input 27',
    tests: [
      'refuses hostile documents within 50 ms each and changes nothing (row 27)',
      'keeps nothing of hostile documents (row 27)',
      'refuses a million keys (row 27)',
    ],
  },
  {
    id: 'input 28',
    tests: [
      'refuses keys that reach a prototype, at every level (row 28)',
      'hands a signed webhook on byte by byte, whatever is in it (row 28)',
      'takes a body with keys of prototypes at every level, without them (row 28)',
    ],
  },
  {
    id: 'input 29',
    tests: [
      'refuses a body that is not byte for byte what was signed (row 29)',
      'hands a signed webhook on byte by byte, whatever is in it (row 28)',
    ],
  },
  {
    id: 'input 30',
    tests: [
      'refuses a time more than five minutes off, before and after (row 30)',
      'refuses a timestamp that is not plain decimal digits, though it means the same number (row 30)',
    ],
  },
  {
    id: 'input 31',
    tests: [
      'takes a delivery once, also after a kill, and answers it signed, with a key that stays the same',
      'answers 2xx to the same id with another body, and stores nothing of it (row 31)',
    ],
  },
  { id: 'input 32', tests: ['refuses a signature by the secret of another endpoint (row 32)'] },
  {
    id: 'input 35',
    tests: [
      'cuts a client that never reads, keeps memory bounded, and lets it resume exactly',
      'gives a lagging client a gap when history moves past it, never a hole',
    ],
  },
  {
    id: 'input 36',
    tests: [
      'hands every kind of Last-Event-ID on and cuts none in silence (row 36)',
      'answers each kind of bad id with an explicit gap and goes on from the oldest',
    ],
  },
  {
    id: 'input 37',
    tests: ['opens no more streams with one token than its limit, and counts them off (row 37)'],
  },
  {
    id: 'input 38',
    tests: [
      'answers refusals as HTTP before the upgrade (row 38)',
      'answers ${name} with ${code} and goes on serving',
      'cuts a peer that never reads',
    ],
  },
  {
    id: 'input 39',
    tests: [
      'shows hostile text as inert text, whoever wrote it, and stays quick (row 39)',
      'leads to no address but http, https and mailto (M2, row 39)',
      'takes bounded time for any text (M3, row 39)',
    ],
  },
  {
    id: 'input 40',
    tests: [
      'keeps a line break, ANSI sequences, C1 and bidi marks from being obeyed (R3)',
      'masks a secret in message, fields, errors, URLs, JSON in JSON, hex and base64 of any alignment (G2, R1)',
    ],
  },
  {
    id: 'input 41',
    tests: [
      'of every kind are in no answer, stream, log or file, whatever a plugin does with them (row 41)',
      'have a canary in each place of the configuration, of the host and of each adapter, that holds one',
      'holds no secret of the configuration: in its document, what it stores, and what it was sent',
      'in a loop is replaced, and the report has its stack, without a secret of it (13)',
      'is not in the record of its end, the status of it, nor a file of the supervisor',
    ],
  },
  {
    id: 'input 46',
    tests: [
      {
        file: 'unit/config/hostile.test.ts',
        title: 'refuses ${name}',
        cases: [
          'an alias bomb',
          'depth 5000 in brackets',
          'a double key',
          'an unknown key',
          '__proto__',
          'a tab for indentation',
          'a byte order mark',
          'two documents',
          '!!js/function',
        ],
      },
      'refuses ten megabytes',
      'refuses a FIFO without waiting',
      'refuses a link to a device',
    ],
  },
  {
    id: 'input 47',
    tests: [
      {
        file: 'unit/config/tokens.test.ts',
        title: 'ends in 78 for ${name}',
        cases: ['an empty token', 'the example value', 'the demo token', 'eight characters on 0.0.0.0'],
      },
    ],
  },
  { id: 'input 49', tests: ['leaves one of two that start at once (23)'] },
  {
    id: 'input 51',
    tests: [
      'fires once though the clock steps back an hour',
      'is not run again when the clock steps back over its time',
      "${at} in ${zone} from ${from} runs at ${expected.join(', ')}",
      'over the end of 32-bit seconds comes at its time, and those after it do, too',
      'for 2039 is stored in 2026 and comes in 2039',
      'goes on: events and ids in their order, jobs, retries',
    ],
  },
  {
    id: 'input 33',
    tests: ['answers 401 to what Discord has not signed, stores nothing of it, and PONG to a PING that is signed'],
  },
  {
    id: 'input 34',
    tests: ['is full, and has room again', 'takes no writes, and takes them again'],
  },
  {
    id: 'input 52',
    tests: [
      'is removed, and put back',
      'is overwritten, and written back',
      'dies: nothing more is acknowledged, and the worker still stops when it is asked to',
      'a sync that fails on the disk is followed by no 2xx for what it should have kept',
      'a disk that has room again for the ${part} is used again by ${user}, and all that was acknowledged outlasts the power',
      'no 2xx follows the loss of the power, and none from before it is lost',
      'the log is removed and cannot be saved yet, answers nothing, and goes on once it is',
      'mends it before anybody asks, and stays usable',
    ],
  },
  {
    id: 'input 50',
    tests: [
      'starts with a record that is ${name}, and says so (26, 27)',
      'takes the place of a dead socket (L4)',
      'says the cause at once, with 1, where it cannot start: ${what} (49)',
      'refuses ${what} at its path, and leaves it there (L4)',
      'leaves a file that took the place of its socket, says so once, and is back when that is gone (L4)',
      'stops when .svc is ${loss} while it runs, and says so in a new one (30)',
      'makes its socket anew within 5 s when that was removed, and goes on (31)',
    ],
  },

  {
    id: 'input 48',
    tests: [
      { file: 'unit/config/tokens.test.ts', title: 'ends in 78 for ${name}', cases: ['0.0.0.0 without a token'] },
      'refuses port 0 and port 65536 (row 48)',
      'says plainly when the address is taken',
    ],
  },
  {
    id: 'input 53',
    tests: [
      'say nothing of an error inside, and the host goes on',
      'in a handler ends as a dead letter with its error, and the others are served',
      'takes none of those that were waiting with it',
    ],
  },

  {
    id: 'contract 3: order of answers',
    tests: ['answers in the order 400, 404, 405, then 401 (contract 3)'],
  },
  {
    id: 'contract 3: probes at the root and below the base, all else below the base',
    tests: ['serves probes at the root and below the base, everything else below the base alone (contract 3)'],
  },
  {
    id: 'contract 3: /pub/ready says only ready',
    tests: ['says no more than ready or not on /pub/ready, uncached (contract 3)'],
  },
  {
    id: 'contract 3: problems',
    tests: ['hold type, title, status, code and a request id that no client chose'],
  },
  { id: 'contract 3: never a stack', tests: ['say nothing of an error inside, and the host goes on'] },
  { id: 'contract 3: demo sees no texts', tests: ['show demo scope neither texts nor names'] },
  {
    id: 'contract 3: Idempotency-Key',
    tests: [
      'are done once under one Idempotency-Key, with the same answer',
      'lists Idempotency-Key on every change below /api, and If-Match where a revision is',
      'has its answer in the unit of its effect: the same request gets it, and nothing is done twice',
    ],
  },
  { id: 'contract 3: If-Match', tests: ['happen only on the revision of If-Match'] },
  {
    id: 'contract 3: openapi.json holds every route',
    tests: ['names every route of the table and nothing else'],
  },
  {
    id: 'contract 3: plugin routes default to full scope',
    tests: ['of plugins have their own scope, default full, and no way around the framing'],
  },
  {
    id: 'contract 3: the page holds no data and needs no token',
    tests: ['is served without a token and in every state, under a strict policy'],
  },
  {
    id: 'contract 3: subprotocol pair',
    tests: ['lets the header, the subprotocol pair, the own and a listed origin in (row 38)'],
  },
  {
    id: 'contract 3: close codes of the WebSocket',
    tests: ['closes with 1012 on a drain and 1008 when the token is gone'],
  },
  {
    id: 'contract 4: position read before the data',
    tests: ['names the position of a snapshot, read before its data (contract 4)'],
  },
  {
    id: 'contract 4: gap=fail is 410',
    tests: ['answers 410 as a problem before any byte of a stream when a gap is to fail (row 36)'],
  },
  {
    id: 'contract 4: resume exactly once',
    tests: [
      'resumes after an id from before the process, each event once',
      'gets each event since, after a kill and after a stop, and `expired` once that row was trimmed',
    ],
  },
  {
    id: 'contract 4: demo fields on the stream',
    tests: ['shows demo scope only the fields that the registry names'],
  },
  {
    id: 'contract 1: drain',
    tests: [
      'accepts nothing new, ends the streams and lets what is under way finish',
      'is for a handler that needs six seconds of eight, where nothing else needs it',
      'ends for a handler that needs more: all is closed in time, and it is handled once after the next start',
    ],
  },
  {
    id: 'contract 1: 78 is never restarted',
    tests: ['fails at once on 78, with file, line and key (11)'],
  },
  {
    id: 'contract 1: storm limit',
    tests: ['ends in failed after 5 starts of a worker that dies at start, with its last words (3)'],
  },
  {
    id: 'contract 1: 51 restarts at once',
    tests: ['starts at once after 51 of a worker that was up, and counts it as requested (7)'],
  },
  {
    id: 'files: signed links',
    tests: [
      'are void when anything of them is changed, or spelled differently',
      'hands a file out as a download that no browser runs',
      'refuses what is not signed, whatever the path says',
    ],
  },
];
