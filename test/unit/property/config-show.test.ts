// Random configurations that are taken survive being shown and read again.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { stringify } from 'yaml';
import { loadConfig } from '../../../shared/config/load.ts';
import { showYaml } from '../../../supervisor/cli/commands/config/show.ts';
import { GOOD_TOKEN } from '../../support/load-text.ts';
import { ofRun } from '../../support/run-length.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const ENVIRONMENT = { HTTP_TOKEN: GOOD_TOKEN, PORT: '9001', WORD: 'a: [b] # "c" ${d}', EMPTY: '' };

/** Texts with all that YAML and references may trip over; `${` is written as a user must write it. */
const text = fc
  .oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom(
      'true',
      'null',
      '1e3',
      '- a',
      '# b',
      'a: b',
      '"',
      "'",
      '${WORD}',
      'x${EMPTY}y',
      '${NO:-d}',
      '$${x}',
      ' lead',
      'line\nline',
      '*a',
      '&a',
      '!x',
      '<<',
      '🎉',
    ),
  )
  .filter(
    (value) =>
      !/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff\ud800-\udfff]/.test(value.replaceAll('🎉', '')) &&
      !/\$\{(?!WORD\}|EMPTY\}|NO:-d\}|x\})/.test(value),
  );
const slot = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
const key = fc
  .stringMatching(/^[a-z][A-Za-z0-9_ .~/-]{0,8}$/)
  .filter(
    (name) =>
      !/^(use|enabled|endpoints|id|constructor|prototype)$/.test(name) &&
      !/token|secret|pass|key|signing|credential/i.test(name),
  );
const leaf = fc.oneof(
  text,
  fc.integer(),
  fc.boolean(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }).map((value) => value + 0),
  fc.constant('${WORD}'),
);
const free = fc.dictionary(
  key,
  fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(key, leaf, { maxKeys: 3 })),
  { maxKeys: 4 },
);
const endpoints = fc
  .uniqueArray(fc.record({ id: fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,6}$/), more: free }), {
    maxLength: 3,
    selector: ({ id }) => id,
  })
  .map((list) => list.map(({ id, more }) => ({ ...more, id })));

const configuration = fc.record(
  {
    log_level: fc.constantFrom('trace', 'info', 'silent'),
    host: fc.record(
      { name: text.filter((value) => value.length > 0 && !/^\$\{EMPTY\}$|[\t\n]/.test(value)) },
      { requiredKeys: [] },
    ),
    http: fc.record(
      {
        token: fc.constant('${HTTP_TOKEN}'),
        port: fc.oneof(fc.integer({ min: 1, max: 65_535 }), fc.constantFrom('${PORT}', '${NO:-80}')),
        host: fc.constantFrom('::1', '127.0.0.1', '0.0.0.0'),
        base: fc.constantFrom('', '/a', '/a/b.c'),
        corsOrigins: fc.subarray(['https://a.example', 'http://b.example:81']),
        readiness: fc.record(
          { database: fc.oneof(fc.boolean(), fc.constant('${NO:-false}')), agents: fc.array(slot, { maxLength: 2 }) },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ['token'] },
    ),
    plugins: fc.dictionary(
      slot,
      fc.oneof(
        fc.constant(null),
        fc.tuple(free, endpoints).map(([more, list]) => ({ ...more, ...(list.length > 0 ? { endpoints: list } : {}) })),
      ),
      { maxKeys: 4 },
    ),
    inbox: fc.record(
      { maxAttempts: fc.integer({ min: 1, max: 100 }), bodyDays: fc.integer({ min: 1, max: 20 }) },
      { requiredKeys: [] },
    ),
    schedule: fc.record(
      { timezone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/Argentina/Ushuaia') },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['http'] },
);

describe('svc config show', () => {
  it('prints a configuration with the same values (EFFECTIVE-4)', async (t) => {
    const project = temporaryProject(t);
    project.write('.env', '');
    const load = (yaml: string): ReturnType<typeof loadConfig> => {
      project.write('svc.config.yml', yaml);
      return loadConfig({ project: project.path, mode: 'production', environment: ENVIRONMENT });
    };

    await fc.assert(
      fc.asyncProperty(configuration, async (config) => {
        const first = load(stringify(config));
        const shown = await showYaml(first);
        const second = load(shown);
        assert.deepEqual(second.config, first.config);
        assert.equal(second.version, first.version);
        assert.equal(shown.includes(GOOD_TOKEN), false);
      }),
      { numRuns: ofRun({ short: 30, long: 100 }) },
    );
  });

  it('answers any text with a configuration or with faults that have a place', (t) => {
    const project = temporaryProject(t);
    project.write('.env', '');
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom(
          'http:',
          '\n',
          '  ',
          '- ',
          '{',
          '}',
          '[',
          ']',
          ': ',
          '"',
          "'",
          '${',
          '}',
          '&a ',
          '*a',
          '!!x ',
          '---',
          '#',
          '|',
          '>',
          'token: ${HTTP_TOKEN}',
          '? ',
          ',',
          '\t',
          '%',
        ),
        fc.string({ maxLength: 5 }),
      ),
      { maxLength: 40 },
    );

    fc.assert(
      fc.property(pieces, (parts) => {
        project.write('svc.config.yml', parts.join(''));
        try {
          loadConfig({ project: project.path, mode: 'test', environment: ENVIRONMENT, servesNothing: true });
        } catch (error) {
          assert.match((error as Error).message, /^svc\.config\.yml:\d+:\d+ /);
        }
      }),
      { numRuns: ofRun({ short: 80, long: 300 }) },
    );
  });
});
