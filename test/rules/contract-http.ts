// Section 3 of the contract, HTTP: each row of its table, and what contract-requirements.ts and requirements.ts do not hold of the rest → tests.
import type { Requirement } from './requirements.ts';

/** Rows whose feature is not there. */
export const WITHOUT_ROW: Readonly<Record<string, string>> = {
  'row /api/workroom': 'no Workroom',
  'row /api/jobs': 'no jobs file',
  'row /api/runs': 'no agents',
  'row /api/checkpoints': 'no checkpoints',
};

/** All rows of the table of routes. */
export const ROWS: readonly string[] = (
  '/pub/health /pub/ready /api/system/readiness /api/system/status /api/system/restart ' +
  '/api/system/reload /api/system/ingress /api/events /api/ws /webhooks /api/metrics /api/endpoints ' +
  '/api/inbox /api/outbox /api/workroom /api/jobs /api/runs /api/checkpoints /api/logs /api/config ' +
  '/api/openapi.json /plugins /'
)
  .split(' ')
  .map((path) => `row ${path}`);

const SCOPES = 'has each route of the contract under the scope that the contract gives it';
const PAGED = 'tells exactly how many there are, and lets the event loop turn meanwhile';
const ONCE = 'lists Idempotency-Key on every change below /api, and If-Match where a revision is';
const NO_TEXTS = 'show demo scope neither texts nor names';

export const HTTP: readonly Requirement[] = [
  {
    id: 'row /pub/health',
    tests: [
      SCOPES,
      'says no more than ready or not on /pub/ready, uncached (contract 3)',
      'comes up without a database, says so, and begins when one opens',
      'has its address from before it listens, and nobody else gets it',
    ],
  },
  { id: 'row /pub/ready', tests: [SCOPES, 'says no more than ready or not on /pub/ready, uncached (contract 3)'] },
  {
    id: 'row /api/system/readiness',
    tests: [
      SCOPES,
      'is not touched by a paused ingress, and its report says since when each check says what it says',
      'names every field that is answered, to either scope',
      'says no more than ready or not on /pub/ready, uncached (contract 3)',
    ],
  },
  {
    id: 'row /api/system/status',
    tests: [
      SCOPES,
      NO_TEXTS,
      'names every field that is answered, to either scope',
      'tells of the start before it in the status, and of the first one nothing',
    ],
  },
  {
    id: 'row /api/system/restart',
    tests: [
      SCOPES,
      'refuses a restart that nobody would make, and asks for one that an owner makes',
      'refuses a restart that systemd would count as one failure too many, and says when to come back',
      'refuses and cuts nobody over a restart from the Console (7)',
    ],
  },
  {
    id: 'row /api/system/reload',
    tests: [SCOPES, 'answers with the number, or 409 with the reasons; the old one serves on'],
  },
  {
    id: 'row /api/system/ingress',
    tests: [
      SCOPES,
      'parks over a restart, and handles what was parked when it is resumed',
      'turns deliveries away while ingress rejects, and counts them',
      'say when to come back while ingress is closed',
      'opens by itself at the time that was said, over a restart too',
    ],
  },
  { id: 'row /api/events', tests: [SCOPES, 'says hello, goes live and follows commits in order'] },
  {
    id: 'row /api/ws',
    tests: [
      SCOPES,
      'carries the frames of the stream as JSON messages and echoes svc.v1 alone',
      'answers calls: ping, and resume from an id with a filter',
      'lets the header, the subprotocol pair, the own and a listed origin in (row 38)',
      'cuts a peer that does not answer pings',
      'closes with 1012 on a drain and 1008 when the token is gone',
      'opens the WebSocket only to close it with 1008, and counts as a wrong token',
    ],
  },
  {
    id: 'row /webhooks',
    tests: [
      SCOPES,
      'hands a signed webhook on byte by byte, whatever is in it (row 28)',
      'takes a delivery once, also after a kill, and answers it signed, with a key that stays the same',
      'lists accounts that take webhooks, with and without an id of their own',
      'refuses WebSockets before they open, takes each token, and comes back after a kill, a disable and a stop',
      'takes up to 25 MiB, as GitHub sends it',
    ],
  },
  { id: 'row /api/metrics', tests: [SCOPES, 'are valid text, carry the project, and have the names of the contract'] },
  {
    id: 'row /api/endpoints',
    tests: [SCOPES, NO_TEXTS, ONCE, 'comes page by page, each account once, whatever comes and goes between two pages'],
  },
  {
    id: 'row /api/inbox',
    tests: [SCOPES, NO_TEXTS, ONCE, PAGED, 'refuse parameters that they do not know, and values out of range'],
  },
  { id: 'row /api/outbox', tests: [SCOPES, NO_TEXTS, ONCE, PAGED] },
  { id: 'row /api/logs', tests: [SCOPES, 'refuse parameters that they do not know, and values out of range'] },
  {
    id: 'row /api/config',
    tests: [SCOPES, 'is masked wherever it is shown, and stands as it was written in the configuration'],
  },
  {
    id: 'row /api/openapi.json',
    tests: [SCOPES, 'is valid OpenAPI 3.1', 'names every route of the table and nothing else'],
  },
  {
    id: 'row /plugins',
    tests: [
      'of plugins have their own scope, default full, and no way around the framing',
      'takes the full token alone where it names no scope',
    ],
  },
  { id: 'row /', tests: [SCOPES, 'is served without a token and in every state, under a strict policy'] },
  {
    id: 'contract 3: OPTIONS 204, HEAD wherever GET is',
    tests: [
      'answers preflights with fixed lists, to listed origins alone (rows 16, 17)',
      'answers HEAD like GET, without a body and without a stream (row 15)',
      'answers HEAD without the file, and closes it',
    ],
  },
  {
    id: 'contract 3: a problem has a stable code, and a hint where there is a remedy',
    tests: [
      'hold type, title, status, code and a request id that no client chose',
      'give reasons and a remedy to full scope',
    ],
  },
  {
    id: 'contract 3: what each kind of credentials is answered, below /api never in a URL or a body',
    tests: [
      'asks for a token with a bare challenge (row 1)',
      'tells another scheme from malformed credentials (row 3)',
      'refuses two Authorization headers in both orders (row 4)',
      'refuses a token in a query or a form, and logs neither (row 5)',
      'refuses a token of the host in a body below /api, whatever its field, and keeps nothing of it',
      'refuses a part of a token, more than a token, and a huge one (row 6)',
      'refuses the demo token on the readiness report (row 8)',
    ],
  },
  {
    id: 'contract 3: compared in constant time; failures are slowed down, valid tokens never',
    tests: [
      'tokens are compared by digests under a key of the process, all of them, whichever fits (A1)',
      'slows down a source of wrong tokens and never a valid one (row 11)',
    ],
  },
  {
    id: 'contract 3: demo sees no texts, names of people, secrets or values of the configuration',
    tests: [
      NO_TEXTS,
      'shows no digest and no exact size of what was written',
      'gets no entity tag that is made of what an operator wrote',
      'never shows demo who or where a person is, nor by what a text could be guessed',
      'keeps every route that needs a token closed to none, wrong and demo tokens as its scope says (row 7)',
    ],
  },
  {
    id: 'contract 3: the checks make no call and do not wait: initialized, admission_open, binding_configured',
    tests: [
      'asks for a committed generation and a database',
      'takes an account that is admitted, connected or not',
      'names what is missing and what to do about it',
    ],
  },
  {
    id: 'contract 3: a change shows within 2 s, `since` changes only then',
    tests: [
      'flips within two seconds, each way, when a required account is disabled and enabled',
      'flips within two seconds when a reload removes a required account, and when it comes back',
      'flips within two seconds when the database file is taken away, and when it is back',
      'is not touched by a paused ingress, and its report says since when each check says what it says',
    ],
  },
  {
    id: 'contract 3: without a database there is no generation, and the host is not ready',
    tests: [
      'is not ready without a database, even where that is not asked for',
      'comes up without a database, says so, and begins when one opens',
    ],
  },
  {
    id: 'contract 3: a paused ingress leaves a host ready, a drain does not',
    tests: [
      'is not touched by a paused ingress, and its report says since when each check says what it says',
      'ends with a drain, whatever the checks say, and tells of each change once',
    ],
  },
];
