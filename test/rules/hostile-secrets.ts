// Secrets, files and parsing (3.5), what is installed (3.6) and the checklists (3.7) of the hostile inputs → tests. Of the checklists each number has
// an entry; one that nothing here can break says so in WITHOUT_RULE.
import type { Requirement } from './requirements.ts';

/** Rules whose feature is not there. */
export const WITHOUT_RULE: Readonly<Record<string, string>> = {
  'hostile 3.5: agent tools': 'no agent tools, and no shell is offered to anybody',
  'hostile 3.5: permission model': "no rule of ours rests on Node's permission model",
  'hostile 3.5: restore archives': 'no restore',
  'hostile 3.5: LoadCredential':
    'it is there for what EnvironmentFile= gives away; no unit has one, the worker reads .env itself and no environment holds a secret',
  'hostile 3.6: min-release-age':
    'a setting of whoever adds a dependency (test/README.md, Release): the lockfile names versions and integrities',
  'hostile 3.6: templates with a base image': 'no container template',
  'ASVS 3.3': 'no cookies: the headers of every answer are looked at (3.4)',
  'ASVS 3.4.1': 'HSTS belongs to the edge that ends TLS, and no template of one is there; no answer of ours has it',
  'ASVS 4.4.1':
    'TLS ends at the edge; tokens are sent by our own commands over plain HTTP to this machine alone (API 2)',
  'ASVS 5.2.5': 'no archive is read',
  'ASVS 5.3.3': 'no archive is read',
  'ASVS 5.4.3': 'files are handed out as they came, as downloads that no browser runs; nothing here opens them',
  'ASVS 13.3.1': 'secrets come by .env or the environment, whatever keeps them before',
};

export const HOSTILE_SECRETS: readonly Requirement[] = [
  {
    id: 'hostile 3.5: secrets reach a worker by a pipe, and stand in no environment or argument',
    tests: [
      'hands secrets to the worker over IPC and keeps them out of its environment',
      'keeps a secret of the environment out of its own and the log',
      'keeps the variables of its owner from its children',
      'holds no secret of the project',
      'holds no secret: its environment has two names',
    ],
  },
  {
    id: 'hostile 3.5: .svc/ for its owner alone',
    tests: [
      'is made with 0700',
      'is refused with mode ${mode.toString(8)} (F1)',
      'is refused when it is a link, a file or a stranger’s; root’s with our group is accepted (F1, F2)',
      'keeps its lock whatever it is asked, and files that only its owner can read',
      'refuses a state folder that others can read, before it touches anything',
    ],
  },
  {
    id: 'hostile 3.5: the control socket, by its relative name, in the place of a dead one of ours alone',
    tests: [
      'takes the place of a dead socket (L4)',
      'refuses ${what} at its path, and leaves it there (L4)',
      'reach their own daemon, beside a host in the foreground whose path begins the same (29)',
      'reach a host in the foreground by its own socket, whatever its owner (29)',
    ],
  },
  {
    id: 'hostile 3.5: configuration is parsed first, strictly, within limits, and references are filled in then',
    tests: [
      'does not let a variable bring YAML in',
      {
        file: 'unit/config/hostile.test.ts',
        title: 'refuses ${name}',
        cases: [
          'an unknown key',
          '__proto__',
          'constructor in a plugin',
          'an alias bomb',
          'a double key',
          'depth 5000 in dashes',
          '!!binary',
          'two documents',
        ],
      },
      'refuses ten megabytes',
      'takes no unknown key outside of plugins (C2)',
      'has no prototype to look into (E4)',
      'does not find what every object has',
    ],
  },
  {
    id: 'hostile 3.5: nothing that is parsed reaches a prototype',
    tests: [
      'refuses keys that reach a prototype, at every level (row 28)',
      'takes a body with keys of prototypes at every level, without them (row 28)',
      'is not led astray by names of Object.prototype',
      'is safe from names that reach a prototype',
    ],
  },
  {
    id: 'hostile 3.5: secrets are masked by key and by value, in every form, wherever something is written',
    tests: [
      'masks by key, at any depth, whatever the value (R2)',
      'masks a secret in message, fields, errors, URLs, JSON in JSON, hex and base64 of any alignment (G2, R1)',
      'keeps a line break, ANSI sequences, C1 and bidi marks from being obeyed (R3)',
      'replaces exactly what is one of them (H1, H2)',
      'goes into the log, line by line, without a secret, and half a line with the next or at the end',
      'is not in the record of its end, the status of it, nor a file of the supervisor',
      'is masked in the log itself where it is printed, up to the very end',
      'in a loop is replaced, and the report has its stack, without a secret of it (13)',
      'prints values with their sources, and no secret',
      'of every kind are in no answer, stream, log or file, whatever a plugin does with them (row 41)',
      'have a canary in each place of the configuration, of the host and of each adapter, that holds one',
      'holds no secret of the configuration: in its document, what it stores, and what it was sent',
      'secrets are in nothing that commands print',
    ],
  },
  {
    id: 'hostile 3.5: query strings are never logged',
    tests: [
      'refuses a token in a query or a form, and logs neither (row 5)',
      'is told in the log once a minute, with address and route, and without the token',
    ],
  },
  {
    id: 'hostile 3.6: a lockfile with integrity and exact versions, which names no host',
    tests: [
      'has an integrity for every package, but for binaries of other platforms that a registry may not carry',
      'pins every dependency to one version',
      'is in step with package.json',
      'names no host',
    ],
  },
  {
    id: 'hostile 3.6: few dependencies, each with a reason; CI prints how many',
    tests: ['names no dependency without a reason, and brings no more packages along than were reviewed'],
  },
  {
    id: 'hostile 3.6: install scripts of one package alone',
    tests: ['lets one package alone run a script when it is installed'],
  },
  {
    id: 'hostile 3.6: CycloneDX SBOM',
    tests: ['has a bill of materials with every package that is installed with it'],
  },

  {
    id: 'ASVS 3.2.2',
    tests: ['shows hostile text as inert text, whoever wrote it, and stays quick (row 39)'],
  },
  {
    id: 'ASVS 3.4.2',
    tests: [
      'answers preflights with fixed lists, to listed origins alone (rows 16, 17)',
      'names a listed origin on answers and problems too',
    ],
  },
  {
    id: 'ASVS 3.4.3',
    tests: [
      'forbid sniffing, framing and caching, and name no server',
      'is served without a token and in every state, under a strict policy',
    ],
  },
  { id: 'ASVS 3.4.4', tests: ['forbid sniffing, framing and caching, and name no server'] },
  { id: 'ASVS 3.4.5', tests: ['forbid sniffing, framing and caching, and name no server'] },
  { id: 'ASVS 3.4.6', tests: ['is served without a token and in every state, under a strict policy'] },
  { id: 'ASVS 3.5.1', tests: ['refuses a cross-site post of plain text to a route that changes something (row 18)'] },
  { id: 'ASVS 3.5.2', tests: ['answers preflights with fixed lists, to listed origins alone (rows 16, 17)'] },
  {
    id: 'ASVS 3.5.3',
    tests: [
      'answers a method that is not there with 405 and Allow, and does nothing (row 14)',
      'answers HEAD like GET, without a body and without a stream (row 15)',
    ],
  },
  { id: 'ASVS 4.1.1', tests: ['say what they are in Content-Type, text with its encoding, wherever they have a body'] },
  {
    id: 'ASVS 4.1.3',
    tests: [
      'ignores forwarded addresses from a peer that is not trusted',
      'counts wrong tokens by the client behind a trusted proxy, right-most untrusted hop',
      'hold type, title, status, code and a request id that no client chose',
    ],
  },
  { id: 'ASVS 4.1.4', tests: ['answers a method that is not there with 405 and Allow, and does nothing (row 14)'] },
  {
    id: 'ASVS 4.2.1',
    tests: [
      'refuses what two readers could frame differently (row 19)',
      'closes the connection after a malformed request, so that nothing smuggled behind it is read (row 19)',
    ],
  },
  { id: 'ASVS 4.4.2', tests: ['answers refusals as HTTP before the upgrade (row 38)'] },
  { id: 'ASVS 4.4.3', tests: ['lets the header, the subprotocol pair, the own and a listed origin in (row 38)'] },
  { id: 'ASVS 4.4.4', tests: ['answers refusals as HTTP before the upgrade (row 38)'] },
  { id: 'ASVS 5.2.3', tests: ['takes no content coding and no other media type (row 26)'] },
  { id: 'ASVS 5.3.2', tests: ['hold digest, a plain name and an end, and are taken back until then'] },
  { id: 'ASVS 5.4.1', tests: ['hands a file out as a download that no browser runs'] },
  { id: 'ASVS 5.4.2', tests: ['hands a file out as a download that no browser runs'] },
  {
    id: 'ASVS 13.1.2',
    tests: [
      'takes connections up to its cap, closes what comes above, and recovers (row 24)',
      'opens no more streams with one token than its limit, and counts them off (row 37)',
      'describes every key (C1)',
    ],
  },
  {
    id: 'ASVS 13.1.3',
    tests: [
      'ends slow headers, slow bodies and silent connections, and serves others meanwhile (row 23)',
      'ends a connection on which nothing moves',
      'waits as Retry-After says, in seconds or as a date, else 5 s',
    ],
  },
  { id: 'ASVS 13.1.4', tests: ['takes in new tokens with the settings, and tells which streams are to end'] },
  {
    id: 'ASVS 13.3.2',
    tests: [
      'hands secrets to the worker over IPC and keeps them out of its environment',
      'ends a production start when others can read the file, and warns elsewhere (E3)',
    ],
  },
  {
    id: 'ASVS 13.3.4',
    tests: ['takes any of several secrets and any of several signatures, and skips versions that it does not know'],
  },
  { id: 'ASVS 13.4.1', tests: ['gives out nothing that is not a file of it'] },
  { id: 'ASVS 13.4.2', tests: ['hold no failpoint as published, and every failpoint in the build for tests'] },
  { id: 'ASVS 13.4.3', tests: ['gives out nothing that is not a file of it'] },
  { id: 'ASVS 13.4.4', tests: ['answers a method that is not there with 405 and Allow, and does nothing (row 14)'] },
  {
    id: 'ASVS 13.4.5',
    tests: ['keeps every route that needs a token closed to none, wrong and demo tokens as its scope says (row 7)'],
  },
  { id: 'ASVS 13.4.6', tests: ['forbid sniffing, framing and caching, and name no server'] },
  {
    id: 'ASVS 16.2.1',
    tests: [
      'writes one JSON line with ISO time, level name, project and runtimeId, in a file of mode 0600',
      'names the generation that ran it, and the item or request, though another one serves by then',
    ],
  },
  {
    id: 'ASVS 16.2.2',
    tests: ['writes one JSON line with ISO time, level name, project and runtimeId, in a file of mode 0600'],
  },
  { id: 'ASVS 16.2.3', tests: ['is kept in five files of 20 MiB, and an end with its last 20 lines'] },
  {
    id: 'ASVS 16.2.4',
    tests: ['turns text that was printed into lines of its own, stamped and without a secret, whatever is in it'],
  },
  {
    id: 'ASVS 16.2.5',
    tests: ['of every kind are in no answer, stream, log or file, whatever a plugin does with them (row 41)'],
  },
  { id: 'ASVS 16.3.1', tests: ['is told in the log once a minute, with address and route, and without the token'] },
  { id: 'ASVS 16.3.2', tests: ['is told in the log once a minute, with address and route, and without the token'] },
  {
    id: 'ASVS 16.3.3',
    tests: [
      'says once a minute for each account that deliveries are refused, and how many it left out',
      'counts wrong tokens alone as failed: those that are slowed down too, no missing one and no weak one',
    ],
  },
  { id: 'ASVS 16.3.4', tests: ['say nothing of an error inside, and the host goes on'] },
  { id: 'ASVS 16.4.1', tests: ['keeps a line break, ANSI sequences, C1 and bidi marks from being obeyed (R3)'] },
  {
    id: 'ASVS 16.4.2',
    tests: ['keeps its lock whatever it is asked, and files that only its owner can read'],
  },
  { id: 'ASVS 16.5.1', tests: ['in a route is 500 without a detail, and no answer repeats what was sent'] },
  { id: 'ASVS 16.5.2', tests: ['that fail hold back neither the start nor another, and heal by themselves'] },
  {
    id: 'ASVS 16.5.3',
    tests: [
      'comes up without a database, says so, and begins when one opens',
      'stores nothing of a group whose sync fails, tells everybody, and goes on afterwards',
    ],
  },
  { id: 'ASVS 16.5.4', tests: ['by an error that nobody caught says why, without the secret in it'] },
  {
    id: 'API 2: broken authentication',
    tests: [
      'keeps every route that needs a token closed to none, wrong and demo tokens as its scope says (row 7)',
      'asks nothing over plain HTTP of another machine',
      'sends nothing without a token, and no token over plain HTTP to another machine',
    ],
  },
  {
    id: 'API 3: exposure of fields',
    tests: ['shows demo scope only the fields that the registry names', 'show demo scope neither texts nor names'],
  },
  {
    id: 'API 4: resources',
    tests: [
      'refuse parameters that they do not know, and values out of range',
      'refuses a body over the limit before reading it, and cuts an endless one (row 25)',
      'opens no more streams with one token than its limit, and counts them off (row 37)',
    ],
  },
  {
    id: 'API 5: authority over functions',
    tests: ['refuses the demo token on every route that changes something, and changes nothing (row 7)'],
  },
  {
    id: 'API 7: requests that others make us send',
    tests: [
      'follows no redirect (H1)',
      'comes back when the receiver says so, and never follows a redirect',
      'asks no address of this machine or network, also where a redirect leads there',
    ],
  },
  {
    id: 'API 8: misconfiguration',
    tests: ['each have a fixture that makes them fail', 'warns of every address outside a container (http.bind)'],
  },
  {
    id: 'API 10: what platforms answer',
    tests: [
      'takes no answer that is too long, and none that is broken off (H2)',
      'gives the checked body, or an error with the status',
      'of every kind are in no answer, stream, log or file, whatever a plugin does with them (row 41)',
    ],
  },
];

/** Numbers of the checklists, as the list of rules has them; `3.3` and `5.4` with all below them. */
export const CHECKLISTS: readonly string[] = (
  '3.2.2 3.3 3.4.1 3.4.2 3.4.3 3.4.4 3.4.5 3.4.6 3.5.1 3.5.2 3.5.3 4.1.1 4.1.3 4.1.4 4.2.1 4.4.1 4.4.2 ' +
  '4.4.3 4.4.4 5.2.3 5.2.5 5.3.2 5.3.3 5.4.1 5.4.2 5.4.3 13.1.2 13.1.3 13.1.4 13.3.1 13.3.2 13.3.4 ' +
  '13.4.1 13.4.2 13.4.3 13.4.4 13.4.5 13.4.6 16.2.1 16.2.2 16.2.3 16.2.4 16.2.5 16.3.1 16.3.2 16.3.3 ' +
  '16.3.4 16.4.1 16.4.2 16.5.1 16.5.2 16.5.3 16.5.4'
)
  .split(' ')
  .map((number) => `ASVS ${number}`);
