// The rules in front of the table of hostile inputs → tests: authentication and HTTP (3.2), streams in browsers (3.3), signing (3.4). Entries of one
// rule say in their id what they are of it; `rules.ts` lists the sections that there are.
import type { Requirement } from './requirements.ts';

export const HOSTILE_HTTP: readonly Requirement[] = [
  {
    id: 'hostile 3.2: Bearer alone, one header, tokens of one form, and what each other thing is answered',
    tests: [
      'asks for a token with a bare challenge (row 1)',
      'takes the scheme in any case (row 2)',
      'tells another scheme from malformed credentials (row 3)',
      'refuses two Authorization headers in both orders (row 4)',
      'refuses a token in a query or a form, and logs neither (row 5)',
      'refuses a body with a field for a token below /api, in each form, whoever sends it (row 5)',
      'refuses a token of the host in a body below /api, whatever its field, and keeps nothing of it',
      'is refused with a field for a token, whoever sends it: ${type}',
      'refuses a part of a token, more than a token, and a huge one (row 6)',
      'refuses the demo token on the readiness report (row 8)',
    ],
  },
  {
    id: 'hostile 3.2: digests under a key of the process, all of them, in constant time',
    tests: ['tokens are compared by digests under a key of the process, all of them, whichever fits (A1)'],
  },
  {
    id: 'hostile 3.2: failures are counted by source, and lock nobody out who has a valid token',
    tests: [
      'slows down a source of wrong tokens and never a valid one (row 11)',
      'counts wrong tokens alone as failed: those that are slowed down too, no missing one and no weak one',
      'is spent for a minute of the wall clock, and begins anew when that is set back',
      'counts wrong tokens by the client behind a trusted proxy, right-most untrusted hop',
    ],
  },
  {
    id: 'hostile 3.2: tokens with which nothing starts',
    tests: [
      {
        file: 'unit/config/tokens.test.ts',
        title: 'ends in 78 for ${name}',
        cases: [
          'a missing token',
          'an empty token',
          'the example value',
          'a token that holds ${',
          'the demo token',
          'a secret of a webhook',
          'eight characters on 0.0.0.0',
        ],
      },
      'warns of eight characters on loopback',
      'does not take what .env.example holds',
    ],
  },
  {
    id: 'hostile 3.2: tokens that are made have 256 bits',
    tests: [
      'makes a token of 256 bits that only the owner can read, another one each time',
      'needs no host to make a token',
      'npm start builds, makes a private .env, says what to open, serves, and ends with 0 on SIGTERM',
    ],
  },
  {
    id: 'hostile 3.2: several named tokens, read again at each reload',
    tests: [
      'takes named tokens',
      'takes in new tokens with the settings, and tells which streams are to end',
      'tells to end the streams of a token that reaches less far, or farther, than when they began',
    ],
  },
  {
    id: 'hostile 3.2: problems say what they are, and nothing of input, paths or stacks',
    tests: [
      'hold type, title, status, code and a request id that no client chose',
      'say nothing of an error inside, and the host goes on',
      'in a route is 500 without a detail, and no answer repeats what was sent',
      'names no path of the machine: files are named from the project on, and the log has the stack',
      'says no more than ready or not on /pub/ready, uncached (contract 3)',
    ],
  },
  {
    id: 'hostile 3.2: one reading of a target decides who may ask and what is asked',
    tests: [
      'refuses every target that has two readings, with and without a token (rows 12, 13)',
      'has nothing at other spellings of a path (row 12)',
      'never reads another path than a URL parser does (T1)',
      'refuses escapes of what needs none, of separators, controls and of escapes (T1)',
      'refuses empty and dot segments in every spelling (T1)',
      'refuses other forms and foreign bytes (T1)',
    ],
  },
  {
    id: 'hostile 3.2: what Node lets through is refused here',
    tests: [
      'refuses two Authorization headers in both orders (row 4)',
      'refuses what two readers could frame differently (row 19)',
      'closes the connection after a malformed request, so that nothing smuggled behind it is read (row 19)',
      'takes no transfer coding but chunked (row 20)',
      'answers a method that is not there with 405 and Allow, and does nothing (row 14)',
      'refuses more than a hundred headers and drops none (row 21)',
    ],
  },
  {
    id: 'hostile 3.2: limits of time',
    tests: [
      'get 408 within their limit and a second, and others are served in time meanwhile (row 23)',
      'ends slow headers, slow bodies and silent connections, and serves others meanwhile (row 23)',
      'let a connection idle for longer than the 60 s of a proxy',
      'are cut by no limit of a request',
    ],
  },
  {
    id: 'hostile 3.2: limits of size and number',
    tests: [
      'refuses more than a hundred headers and drops none (row 21)',
      'refuses a huge header and a huge target (row 22)',
      'takes connections up to its cap, closes what comes above, and recovers (row 24)',
      'limits connections of one address, never of the loopback',
      'counts requests under way of a client behind a trusted proxy',
      'counts a network of 64 bits of IPv6 as one client',
      'refuses a body over the limit before reading it, and cuts an endless one (row 25)',
      'are bounded for one client together, but for small ones, and there is room again when they are gone',
      'takes up to 25 MiB, as GitHub sends it',
      {
        file: 'host/events/websocket.test.ts',
        title: 'answers ${name} with ${code} and goes on serving',
        cases: ['a message of more than 256 KiB'],
      },
    ],
  },
  {
    id: 'hostile 3.2: headers of every answer',
    tests: [
      'forbid sniffing, framing and caching, and name no server',
      'is served without a token and in every state, under a strict policy',
      'sets headers of its own, and none of those that guard every answer',
    ],
  },
  {
    id: 'hostile 3.2: the address of a client is that of the right-most hop that is not trusted',
    tests: [
      'counts wrong tokens by the client behind a trusted proxy, right-most untrusted hop',
      'ignores forwarded addresses from a peer that is not trusted',
    ],
  },
  {
    id: 'hostile 3.3: the page follows by fetch, with the token of the moment, and knows when to stop',
    tests: [
      'resumes after the last id with the token of the moment, through losses and refusals of the host (E1, E2, E3)',
      'ends at 401 and 403, and says so once (E1)',
      'takes silence of two heartbeats for a loss (E3)',
      'goes back to the form when the token is revoked, and keeps the text that was not sent',
    ],
  },
  {
    id: 'hostile 3.3: no cookie, and no token in an address',
    tests: [
      'forbid sniffing, framing and caching, and name no server',
      'refuses a token in a query or a form, and logs neither (row 5)',
      'holds no secret of the configuration: in its document, what it stores, and what it was sent',
    ],
  },
  {
    id: 'hostile 3.3: WebSockets',
    tests: [
      'carries the frames of the stream as JSON messages and echoes svc.v1 alone',
      'lets the header, the subprotocol pair, the own and a listed origin in (row 38)',
      'answers refusals as HTTP before the upgrade (row 38)',
      'is told so only to whom a page may speak for, in good form',
      'closes with 1012 on a drain and 1008 when the token is gone',
      'answers ${name} with ${code} and goes on serving',
      'cuts a peer that does not answer pings',
      'cuts a peer that never reads',
    ],
  },
  {
    id: 'hostile 3.3: event streams',
    tests: [
      'says hello, goes live and follows commits in order',
      'comes at every interval, also where something was sent within it: the silence after that would last two',
      'cuts a client that never reads, keeps memory bounded, and lets it resume exactly',
      'gives a lagging client a gap when history moves past it, never a hole',
      'opens no more streams with one token than its limit, and counts them off (row 37)',
      'is one block in one chunk, whatever line breaks the data has',
      'loses nothing and says nothing twice over ${KILLS} kills',
    ],
  },
  {
    id: 'hostile 3.4: Standard Webhooks',
    tests: [
      'takes the vector of the specification',
      'takes what another implementation signed',
      'takes any of several secrets and any of several signatures, and skips versions that it does not know',
      'refuses a time more than five minutes off, before and after (row 30)',
      'takes a delivery once, also after a kill, and answers it signed, with a key that stays the same',
    ],
  },
  {
    id: 'hostile 3.4: Slack',
    tests: [
      { file: 'unit/adapters/slack/verify.test.ts', title: 'verifies as printed, with any of the secrets' },
      'is refused over five minutes away, and with a time that is not plain digits (row 30)',
      'is refused when it is not v0= and 64 digits, whatever a lenient reader would make of it',
      'are answered with the challenge, when they are signed',
      'are no way to have anything else answered',
      'answers an event, and takes it once, also when it comes again after a kill',
    ],
  },
  {
    id: 'hostile 3.4: GitHub',
    tests: [
      'takes the published example',
      'refuses every other form of the header, and the SHA-1 header alone',
      'refuses a delivery without its id or its event, by which a repeat is known',
      'answers a signed delivery with a comment, and a redelivery of it only with 200, also after a kill',
    ],
  },
  {
    id: 'hostile 3.4: Discord',
    tests: [
      'takes a signature of RFC 8032, and none that differs in a bit',
      'reads signature and timestamp strictly (V1)',
      'refuses what is older or newer than five minutes (V2)',
      'answers a PING that is signed, and no other (V3)',
      'answers 401 to what Discord has not signed, stores nothing of it, and PONG to a PING that is signed',
    ],
  },
  {
    id: 'hostile 3.4: Telegram',
    tests: [
      'registers with the first secret, takes every one, in constant time and only here',
      'prints and registers the address of a webhook, and takes what is delivered there once',
    ],
  },
  {
    id: 'hostile 3.4: LINE',
    tests: [
      { file: 'unit/adapters/line/verify.test.ts', title: 'verifies as printed, with any of the secrets' },
      'is refused when it is not the one way to write it',
      'answers a line, and takes it once, also when it comes again after a kill',
      'answers 401 to what LINE has not signed, stores nothing of it, and 200 to its empty delivery',
    ],
  },
  {
    id: 'hostile 3.4: over the exact bytes, with each secret, by strict digits, before anything is read',
    tests: [
      'hands a signed webhook on byte by byte, whatever is in it (row 28)',
      'refuses a body that is not byte for byte what was signed (row 29)',
      'each secret of an account is compared, in constant time and whichever fits: ${name}',
      'takes a signature by any of the secrets, in either case (V2)',
      'reads hexadecimal digits strictly (V1)',
      'takes a time within five minutes, and no other (V3)',
      'decodes base64 strictly',
      'refuses a timestamp that is not plain decimal digits, though it means the same number (row 30)',
      'refuses every form of a signature that is not canonical base64 of 32 bytes',
    ],
  },
  {
    id: 'hostile 3.4: 401 without a detail, and tokens of the host are none of a platform',
    tests: [
      'answers 401 to what is not signed as it must be, and tells nothing (rows 29, 30, 32)',
      'gives a full token no way into a webhook, and a webhook secret none into the API (rows 9, 10)',
      'keeps a token of the host from those who take deliveries, and no other credentials',
    ],
  },
  {
    id: 'hostile 3.4: stored with its id before it is acknowledged, handled after that',
    tests: [
      'takes a delivery id once, over a reopened database too',
      'loses nothing and says nothing twice over ${KILLS} kills',
      'a sync that fails on the disk is followed by no 2xx for what it should have kept',
    ],
  },
];
