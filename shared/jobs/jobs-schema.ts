// The published JSON Schema of `data/schedule-jobs.json`, for editors. The host's own check is stricter: ids are unique, patterns come due, zones exist.
const OWN_KEYS = { '^x-': true } as const;
const DURATION = '^([0-9]{1,12}[smhd])+$';
const text = (description: string, more: object = {}) => ({ type: 'string', minLength: 1, description, ...more });
const TEXT = { maxLength: 16_384 } as const;

const object = (required: readonly string[], properties: Readonly<Record<string, unknown>>) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
  patternProperties: OWN_KEYS,
});

const place = object(['endpoint', 'conversation'], {
  endpoint: text('The account, such as irc~libera.'),
  conversation: text('The id of the conversation on its platform.'),
  thread: text('The thread in the conversation.'),
});

const job = {
  ...object(['id', 'do'], {
    id: text('Unique. Runs, events and metrics name it.', { pattern: '^[a-z0-9][a-z0-9-]{0,62}$' }),
    title: text('For lists.', { maxLength: 200 }),
    cron: text('Five fields: minute, hour, day of the month, month, day of the week; or @daily and the like.'),
    at: text('Once: YYYY-MM-DDTHH:MM[:SS] in the time zone, or with Z or an offset.', {
      pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2})?(Z|[+-]\\d{2}:\\d{2})?$',
    }),
    every: text('Again and again in real time: 10s to 366d.', { pattern: DURATION }),
    from: text('From when `every` counts. Default 1970-01-01T00:00Z.', {
      pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2})?(Z|[+-]\\d{2}:\\d{2})$',
    }),
    timezone: text('IANA name of a time zone. Default: schedule.timezone.'),
    do: {
      ...object([], {
        say: object(['to', 'text'], { to: place, text: text('The text.', TEXT) }),
        command: object(['in', 'line'], {
          in: place,
          line: text('The command as it is typed. It runs with the rights of an operator.', TEXT),
        }),
        item: object(['board', 'title'], {
          board: text('Id of the board. The host is a Workroom (host.kind: workroom).', {
            pattern: '^[a-z][a-z0-9]{0,15}$',
          }),
          title: text('Title of the item.', { maxLength: 512 }),
          assign: text('Id of the member who gets the item.', { pattern: '^[a-z][a-z0-9-]{0,31}$' }),
          due: text('Its deadline, counted from the due time: 1m to 366d.', { pattern: DURATION }),
        }),
      }),
      oneOf: [{ required: ['say'] }, { required: ['command'] }, { required: ['item'] }],
    },
    missed: {
      enum: ['skip', 'run_once', 'run_all'],
      default: 'run_once',
      description: 'What becomes of due times that were missed.',
    },
    within: text('How late a missed due time may run: 1m to 31d.', { pattern: DURATION, default: '1h' }),
    overlap: {
      enum: ['skip', 'queue', 'allow'],
      default: 'skip',
      description: 'What becomes of a due time while a run is open.',
    },
    jitter: text('Spreads due times: 0s to 1h.', { pattern: DURATION, default: '0s' }),
    paused: { type: 'boolean', default: false, description: 'True: nothing is due, and nothing is missed.' },
  }),
  oneOf: [{ required: ['cron'] }, { required: ['at'] }, { required: ['every'] }],
} as const;

export const jobsSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Scheduled jobs of svc (data/schedule-jobs.json)',
  ...object(['version', 'jobs'], {
    $schema: { type: 'string' },
    version: { const: 1 },
    revision: { type: 'integer', minimum: 0, description: 'Rises with each change by svc.' },
    jobs: { type: 'array', maxItems: 1_000, items: job },
  }),
} as const;
