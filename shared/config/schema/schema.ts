// The schema of svc.config.yml. One TypeBox schema is the validator, the type `Config` and the published JSON Schema.
//
//   SCHEMA-1  Every key has a description, which editors show. A key that may be left out has its default beside it.
//   SCHEMA-2  Unknown keys are errors everywhere except inside `plugins.<slot>` and its endpoints. The plugin's own schema checks those.
//   SCHEMA-3  Keys of a feature are added together with the feature.
//   SCHEMA-4  A secret has `format: svc-secret`. It is a reference in the file and a `Secret` in the process.
//
// Import only types from this module. TypeBox is slow to load, so the schema is imported by the validator and the build alone.
import type { Static, TSchema } from 'typebox';
import * as Type from 'typebox';
import type { Secret } from '../../secret.ts';

const KIB = 1_024;
const MIB = 1_024 * KIB;
const GIB = 1_024 * MIB;

/** Names of slots and endpoints: short, and safe in paths, ids and metrics. */
export const SLOT_PATTERN = '^[a-z][a-z0-9-]{0,62}$';
const ENDPOINT_PATTERN = '^[a-z0-9][a-z0-9_-]{0,62}$';

const group = <P extends Record<string, TSchema>>(description: string, properties: P) =>
  Type.Object(properties, { description, additionalProperties: false, default: {} });
const entry = <P extends Record<string, TSchema>>(description: string, properties: P) =>
  Type.Object(properties, { description, additionalProperties: false });
const integer = (description: string, fallback: number, [minimum, maximum]: readonly [number, number]) =>
  Type.Integer({ description, default: fallback, minimum, maximum });
const choice = <const V extends readonly string[]>(description: string, values: V, fallback?: V[number]) =>
  Type.Unsafe<V[number]>({
    type: 'string',
    enum: values,
    description,
    ...(fallback === undefined ? {} : { default: fallback }),
  });
const text = (description: string, note: { default?: string; pattern?: string; maxLength?: number } = {}) =>
  Type.String({ description, minLength: 1, maxLength: 1_000, ...note });
const secret = (description: string) =>
  Type.Unsafe<Secret>({ type: 'string', format: 'svc-secret', writeOnly: true, description });
const list = <S extends TSchema>(description: string, items: S, maxItems = 1_000) =>
  Type.Array(items, { description, default: [], maxItems });

/** One account of a slot. These are the host's keys; all others belong to the adapter. */
export interface EndpointEntry {
  readonly id: string;
  readonly enabled: boolean;
  readonly [key: string]: unknown;
}

/** One slot. These are the host's keys; all others belong to the plugin, with references resolved but not yet checked. */
export interface PluginSlot {
  readonly use?: string;
  readonly enabled: boolean;
  readonly endpoints?: readonly EndpointEntry[];
  readonly [key: string]: unknown;
}

const endpointEntry = Type.Unsafe<EndpointEntry>(
  Type.Object(
    {
      id: Type.String({
        pattern: ENDPOINT_PATTERN,
        description:
          'Names the account: the endpoint is `<slot>~<id>`. Small letters, digits, `-` and `_`, unique in its slot.',
      }),
      enabled: Type.Boolean({ default: true, description: 'false keeps the account out of the next generation.' }),
    },
    { additionalProperties: true, description: 'One account; other keys as the adapter says.' },
  ),
);

const pluginSlot = Type.Unsafe<PluginSlot>(
  Type.Object(
    {
      use: Type.Optional(
        text("Built-in name, package or path of the plugin (a path starts with './'). Default: the slot's name."),
      ),
      enabled: Type.Boolean({ default: true, description: 'false keeps the plugin out of the next generation.' }),
      endpoints: Type.Optional(
        Type.Array(endpointEntry, { maxItems: 1_000, description: 'Accounts, each an endpoint of its own.' }),
      ),
    },
    { additionalProperties: true, default: {}, description: "One plugin; other keys as the plugin's own schema says." },
  ),
);

const alertRule = entry('One rule of alerts.', {
  for: Type.Optional(
    text('How long it must be true without a break, like 10m. 0s: at once.', { pattern: '^([0-9]{1,6}[smhd])+$' }),
  ),
  threshold: Type.Optional(Type.Number({ description: 'The bound, in the unit of the rule.', minimum: 0 })),
  severity: Type.Optional(choice('How urgent it is.', ['critical', 'warning'])),
  enabled: Type.Optional(Type.Boolean({ description: 'false: the host does not look at it.' })),
});

const http = group('The HTTP interface.', {
  host: text('Address to listen on: an IP literal.', { default: '127.0.0.1', maxLength: 64 }),
  port: integer('Port to listen on.', 8_068, [1, 65_535]),
  publicUrl: Type.Optional(
    text(
      "Where people reach this host, like 'https://bot.example', without the base path: for the addresses of webhooks, and for links to files on platforms that take none. Left out: no such links, but on the chat page.",
      { maxLength: 500, pattern: '^https?://[^\\s?#@]+$' },
    ),
  ),
  base: Type.String({
    default: '',
    maxLength: 200,
    pattern: '^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$',
    description: "Path before everything but /pub/health and /pub/ready, like '/bots'; no slash at the end.",
  }),
  token: secret(
    'Token with full scope, as a reference: ${HTTP_TOKEN}. At least 16 characters; `svc init` makes one of 256 bits.',
  ),
  demoToken: Type.Optional(secret('Token with read-only scope, as a reference.')),
  tokens: list(
    'Further named tokens, for a rotation without a gap.',
    entry('A named token.', {
      name: Type.String({ pattern: SLOT_PATTERN, description: 'Names the token in the audit trail.' }),
      token: secret('The token, as a reference.'),
      scope: choice('What the token reaches.', ['full', 'demo']),
    }),
    100,
  ),
  corsOrigins: list(
    "Exact origins of other sites that may call, like 'https://ops.example'. The host's own is always allowed.",
    text('An origin.'),
    100,
  ),
  trustedProxies: list(
    'Addresses or networks (CIDR) whose forwarded headers count.',
    text('An IP address or a network.', { maxLength: 64 }),
    100,
  ),
  limits: group('Bounds of the HTTP interface. Limits per address never apply to loopback.', {
    connections: integer('Open connections in all.', 8_192, [1, 1_000_000]),
    connectionsPerAddress: integer(
      'Open connections of one address; of IPv6, of one network of 64 bits.',
      256,
      [1, 1_000_000],
    ),
    streamsPerToken: integer('Open event streams of one token.', 100, [1, 1_000_000]),
    bodyBytes: integer('Largest JSON body.', MIB, [KIB, 64 * MIB]),
  }),
  readiness: group('What must be there before the host calls itself ready.', {
    database: Type.Boolean({ default: true, description: 'The database is initialized.' }),
    endpoints: list(
      'Endpoints that must be admitted.',
      entry('An endpoint.', {
        owner: text('Instance path of the plugin, like root/irc.', { pattern: '^root(/[a-z][a-z0-9-]{0,62})+$' }),
        name: text('Name of the endpoint: <slot>~<id> for an account, else <slot>.', {
          pattern: '^[a-z][a-z0-9-]{0,62}(~[a-z0-9][a-z0-9_-]{0,62})?$',
        }),
      }),
    ),
    workroom: Type.Boolean({ default: true, description: 'On a Workroom: its journal is open.' }),
    agents: list('Agent bindings that must be configured; unmet until the binding exists.', text('Name of a binding.')),
  }),
});

/** The schema. `required` means present after defaults were filled in. */
export const configSchema = Type.Object(
  {
    log_level: choice(
      'Least severe level that is logged; can be changed while running.',
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'info',
    ),
    host: group('What this host is.', {
      kind: choice('What runs here: a bot, or a team Workroom with its board.', ['bot', 'workroom'], 'bot'),
      name: Type.Optional(text("Name shown on the Dashboard. Default: the package's name.", { maxLength: 100 })),
      language: choice("Language of the host's own texts in chats.", ['en', 'zh'], 'en'),
    }),
    http,
    database: group('Where the state is kept.', {
      dialect: choice('The database system.', ['sqlite'], 'sqlite'),
      filename: text('The database file, from the project folder or from the root.', { default: '.svc/data.sqlite' }),
    }),
    plugins: Type.Record(Type.String({ pattern: SLOT_PATTERN }), pluginSlot, {
      additionalProperties: false,
      default: {},
      description: 'Plugins by slot. The order here is the order in which message handlers are asked.',
    }),
    commands: group('Chat commands.', {
      prefix: text('What a typed command starts with.', { default: '/', maxLength: 8, pattern: '^\\S+$' }),
      operators: list(
        'Who may use commands marked for operators.',
        entry('A person.', {
          endpoint: text('Endpoint as in events: root/<slot>:<name>.'),
          user: text("The person's id on that platform."),
        }),
      ),
    }),
    inbox: group('Messages that came in.', {
      bodyDays: integer(
        'Days for which the text of a handled message is kept, and copies of files that came with messages.',
        7,
        [1, 3_650],
      ),
      idDays: integer('Days for which delivery ids are remembered, so that a repeat is recognised.', 30, [3, 3_650]),
      maxAttempts: integer('Attempts before a message becomes a dead letter.', 5, [1, 100]),
      quarantineSeconds: integer(
        'What was in hand at two deaths of the process, a message or a send, is set aside for so long; after further ones for two and a half times as long. 0: it is not.',
        120,
        [0, 86_400],
      ),
      maxPending: integer(
        'Messages waiting, at most; above it ingress answers 503. The last tenth is divided among the endpoints.',
        10_000,
        [1, 10_000_000],
      ),
      maxPendingBytes: integer('Bytes of waiting messages, at most; divided in the same way.', 64 * MIB, [
        64 * KIB,
        64 * GIB,
      ]),
      concurrency: integer(
        'Messages handled at the same time, each of another lane. Half of them are divided among the endpoints.',
        256,
        [1, 10_000],
      ),
      endpointConcurrency: integer('Messages of one endpoint handled at the same time.', 128, [1, 10_000]),
    }),
    outbox: group('Messages going out.', {
      days: integer('Days for which sent messages are kept.', 7, [1, 3_650]),
      deadDays: integer(
        'Days after which a dead letter to a recipient who is no longer there is dropped. Others stay.',
        7,
        [1, 3_650],
      ),
      maxAttempts: integer(
        'Attempts before a message becomes a dead letter, those included that a crash of the worker cut.',
        8,
        [1, 100],
      ),
      onUnknown: choice(
        'After a crash during a send whose outcome the platform cannot tell: send again, or hold it for an operator.',
        ['resend', 'hold'],
        'resend',
      ),
    }),
    files: group('Files that plugins save, and that people send and are sent.', {
      days: integer(
        'Days for which a file is kept after it was last saved; longer while anything stored names it: a message, a button, a task, a state.',
        30,
        [1, 3_650],
      ),
      maxFileBytes: integer('Largest file.', 64 * MIB, [KIB, 4 * GIB]),
      linkHours: integer('Hours for which a link to a file can be opened.', 168, [1, 87_600]),
    }),
    events: group('The event history.', {
      history: group('What is kept for streams that resume; whichever bound is met first trims.', {
        maxEvents: integer('Events kept.', 100_000, [100, 100_000_000]),
        maxBytes: integer('Bytes kept.', 256 * MIB, [MIB, 64 * GIB]),
        maxAgeHours: integer('Hours kept.', 72, [1, 87_600]),
      }),
    }),
    schedule: group('Reminders and jobs.', {
      timezone: text('IANA name of the zone of wall-clock times.', { default: 'UTC', maxLength: 64 }),
    }),
    workroom: group('The board of a team; with host.kind workroom alone.', {
      store: choice(
        'Where the journal is kept: in the database, or in files beside it. `svc workroom convert` changes it.',
        ['database', 'file'],
        'database',
      ),
      stuckHours: integer(
        'Hours without a change after which an item is announced as stuck. 0: never.',
        72,
        [0, 8_760],
      ),
      remindHours: integer('Hours after which an overdue or stuck item is announced again.', 24, [1, 8_760]),
      verifyHours: integer('Hours between two proofs of the journal while the host runs.', 24, [1, 8_760]),
      maxTextBytes: integer('Bytes of a title or a text, at most.', 16 * KIB, [256, 64 * KIB]),
    }),
    runs: group('The ledger of scheduled jobs.', {
      days: integer('Days for which the ledger keeps runs; the last of each job longer.', 90, [1, 3_650]),
    }),
    recovery: group('Checkpoints: restore points that the host makes by itself.', {
      everyHours: integer('Hours between two checkpoints. 0: the host makes none by itself.', 24, [0, 168]),
      at: text(
        'Time of day of those that are made once a day or less often, in schedule.timezone. A missed one is made at the next start.',
        { default: '03:30', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' },
      ),
      verifyDays: integer('Days between two rehearsals of the newest checkpoint. 0: never.', 7, [0, 90]),
      keepLast: integer('Newest checkpoints kept.', 3, [1, 100]),
      keepDays: integer('Days of which the newest checkpoint is kept.', 7, [0, 90]),
      keepWeeks: integer('Weeks of which the newest checkpoint is kept.', 4, [0, 52]),
      maxBytes: integer(
        'Bytes of all checkpoints and replaced states. Above it the oldest go; the newest good one and the newest rehearsed one stay.',
        8 * GIB,
        [256 * MIB, 16 * KIB * GIB],
      ),
      copyTo: Type.Optional(
        text('A folder on another disk, to which each checkpoint is copied. From the project folder or from the root.'),
      ),
      maxLogBytes: integer('Size of the write-ahead log at which a copy of the running database is given up.', GIB, [
        64 * MIB,
        64 * GIB,
      ]),
      replacedDays: integer('Days for which the state that a restore moved aside is kept.', 7, [0, 90]),
    }),
    release: group('Releases with `svc release`.', {
      windowHours: integer('Hours for which a released version is watched before it may be finished.', 24, [1, 336]),
      readySeconds: integer('A released version that is not ready by then is rolled back.', 120, [10, 3_600]),
    }),
    alerts: group('Alerts of the host, told in chats or by a signed webhook.', {
      notify: list(
        'Who is told, in this order.',
        entry('A conversation of an account.', {
          endpoint: text("The account that carries it, like 'irc~main'.", { maxLength: 200 }),
          conversation: text('Id of the conversation, as the platform has it.', { maxLength: 200 }),
          severities: Type.Array(choice('A severity.', ['critical', 'warning']), {
            description: 'Which alerts it carries.',
            default: ['critical', 'warning'],
            minItems: 1,
            maxItems: 2,
          }),
        }),
        20,
      ),
      repeatHours: integer('Hours after which an alert that still fires is told again.', 4, [1, 168]),
      rules: Type.Record(Type.String({ pattern: '^[A-Za-z]{1,64}$' }), alertRule, {
        additionalProperties: false,
        default: {},
        description: 'Settings of single rules by name: `svc alerts rules` lists them.',
      }),
    }),
    supervisor: group('The supervisor of --daemon.', {
      restarts: integer('Starts within the window, the first included.', 5, [1, 100]),
      windowSeconds: integer('Length of the window.', 120, [1, 86_400]),
      upTimeoutSeconds: integer('A worker that is not up by then is ended and counted as a crash.', 30, [1, 3_600]),
      watchdogSeconds: integer('A worker without a heartbeat for so long is ended.', 15, [1, 3_600]),
      stopTimeoutSeconds: integer('Time for a drain; what is left then is cut.', 8, [1, 600]),
      log: group('The runtime log.', {
        maxBytes: integer('Size at which the log is rotated.', 20 * MIB, [64 * KIB, 4 * GIB]),
        maxFiles: integer('Files kept, the current one included.', 5, [1, 100]),
      }),
      standby: Type.Boolean({
        default: false,
        description: 'Keep a loaded spare worker: quicker back after a crash, for the memory of one more process.',
      }),
    }),
    disk: group(
      'Budget over events, message texts, reports and logs; when it is low, ingress answers 503 before the database fails.',
      {
        maxBytes: integer('Bytes that all of it may take.', 4 * GIB, [64 * MIB, 16 * KIB * GIB]),
        minFreeBytes: integer('Free bytes that must be left on the file system.', 128 * MIB, [0, 16 * KIB * GIB]),
      },
    ),
  },
  { title: 'svc.config.yml', description: 'Configuration of an svc project.', additionalProperties: false },
);

/** Read-only at every depth. Secrets stay as they are. */
export type Frozen<T> = T extends Secret | string | number | boolean | null | undefined
  ? T
  : T extends readonly (infer I)[]
    ? readonly Frozen<I>[]
    : { readonly [K in keyof T]: Frozen<T[K]> };

/** The effective configuration: defaults filled in, references resolved, secrets wrapped, frozen. */
export type Config = Frozen<Static<typeof configSchema>> & { readonly host: { readonly name: string } };
