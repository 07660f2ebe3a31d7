import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CheckedKeys, checkPluginKeys } from '../../../shared/config/checks/plugin-keys.ts';
import { faultLine } from '../../../shared/config/fault.ts';
import type { Mode } from '../../../shared/config/mode.ts';
import { t as build } from '../../../worker/sdk/index.ts';
import { check } from '../../../worker/sdk/schema/check.ts';
import { loadText } from '../../support/load-text.ts';
import type { Cleanup } from '../../support/temporary-project.ts';

const properties = {
  greeting: build.string({ default: 'Hello', minLength: 2 }),
  every: build.duration({ default: '10m' }),
  limit: build.integer({ default: 3, minimum: 1, maximum: 9 }),
  loud: build.optional(build.boolean()),
  level: build.optional(build.enum(['low', 'high'])),
  secret: build.optional(build.secret()),
  room: build.optional(build.object({ name: build.string(), size: build.integer({ default: 1 }) })),
  keys: build.array(build.secret(), { default: [] }),
};

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly mode?: Mode;
  readonly pointer?: string;
}

/** Checks the keys of the slot `x`, whose YAML is given with an indentation of four. */
function keysOf(
  t: Cleanup,
  yaml: string,
  { env = {}, mode = 'production', pointer = '/plugins/x' }: Options = {},
): CheckedKeys {
  const loaded = loadText(t, `http:\n  token: \${HTTP_TOKEN}\nplugins:\n  x:\n    enabled: true\n${yaml}`, {
    env,
    mode,
  });
  const slot = loaded.config.plugins['x'];
  return checkPluginKeys(loaded, pointer, {
    properties,
    value: pointer === '/plugins/x' ? slot : slot?.endpoints?.[0],
    check,
  });
}

const linesOf = (checked: CheckedKeys): readonly string[] => (checked.ok ? [] : checked.faults.map(faultLine));

describe('checkPluginKeys', () => {
  it('fills in defaults and leaves the keys of the host out', (t) => {
    const checked = keysOf(t, '    use: ./plugins/x\n');

    assert.deepEqual(checked, {
      ok: true,
      value: { greeting: 'Hello', every: 600_000, limit: 3, keys: [] },
      secrets: [],
      secretKeys: [],
    });
  });

  it('gives references the type that the schema asks for (PLUGIN-KEYS-1)', (t) => {
    const checked = keysOf(
      t,
      '    limit: ${N}\n    loud: ${L}\n    every: ${E}\n    room: {name: "${N}", size: "${N}"}\n',
      { env: { N: '5', L: 'true', E: '1h' } },
    );

    assert.ok(checked.ok);
    assert.deepEqual(checked.value, {
      greeting: 'Hello',
      every: 3_600_000,
      limit: 5,
      loud: true,
      room: { name: '5', size: 5 },
      keys: [],
    });
  });

  it('wraps secrets and gives their texts back (PLUGIN-KEYS-2)', (t) => {
    const checked = keysOf(t, '    secret: ${S}\n    keys: ["${K}"]\n', { env: { S: 'sesame', K: 'open' } });

    assert.ok(checked.ok);
    assert.equal(String(checked.value['secret']), '[secret]');
    assert.equal((checked.value['secret'] as { reveal(): string }).reveal(), 'sesame');
    assert.deepEqual(checked.secrets, ['sesame', 'open']);
  });

  it('refuses secrets that are literals, defaults or empty (PLUGIN-KEYS-2)', (t) => {
    const lines = [
      '    secret: sesame\n',
      '    secret: ${S:-sesame}\n',
      '    secret: a${S}\n',
      '    secret: ${EMPTY}\n',
    ].flatMap((yaml) => linesOf(keysOf(t, yaml, { env: { S: 'sesame', EMPTY: '' } })));

    assert.deepEqual(lines, [
      'svc.config.yml:6:5 plugins.x.secret must be a reference like ${NAME}, not the secret itself',
      'svc.config.yml:6:5 plugins.x.secret must be a reference without a default',
      'svc.config.yml:6:5 plugins.x.secret must be a reference like ${NAME}, not the secret itself',
      'svc.config.yml:6:5 plugins.x.secret is empty: EMPTY has no value',
    ]);
  });

  it('tells all faults with line, column and the nearest key (PLUGIN-KEYS-3)', (t) => {
    const lines = linesOf(
      keysOf(t, '    greting: Hi\n    limit: 10\n    every: soon\n    level: lwo\n    room:\n      nam: x\n'),
    );

    assert.equal(lines.length, 6);
    assert.ok(
      lines.includes('svc.config.yml:6:5 plugins.x.greting is not a key here; did you mean plugins.x.greeting?'),
      lines.join('\n'),
    );
    assert.ok(
      lines.includes('svc.config.yml:11:7 plugins.x.room.nam is not a key here; did you mean plugins.x.room.name?'),
      lines.join('\n'),
    );
    assert.ok(
      lines.includes('svc.config.yml:10:5 plugins.x.room.name is missing; it must be a text'),
      lines.join('\n'),
    );
    assert.ok(
      lines.some((line) => line.startsWith('svc.config.yml:7:5 plugins.x.limit ')),
      lines.join('\n'),
    );
  });

  it('says of a value of the wrong type which one was meant (PLUGIN-KEYS-3)', (t) => {
    const meant = (yaml: string): string =>
      linesOf(keysOf(t, `    ${yaml}\n`))[0]?.replace(/^\S+ plugins\.x\./, '') ?? '';

    assert.equal(meant('loud: no'), 'loud must be true or false, not no; did you mean false?');
    assert.equal(meant('loud: "true"'), 'loud must be true or false, not the text "true"; did you mean true?');
    assert.equal(meant('loud: perhaps'), 'loud must be true or false, not perhaps');
    assert.equal(meant('limit: "5"'), 'limit expected a whole number, got "5"; did you mean 5?');
    assert.equal(meant('level: hgih'), 'level expected one of low, high, got "hgih"; did you mean high?');
  });

  it('shows no value of the environment (PLUGIN-KEYS-3)', (t) => {
    const lines = linesOf(
      keysOf(t, '    limit: ${A}\n    level: ${A}\n    greeting: ${B}\n', { env: { A: 'sesame', B: 's' } }),
    );

    assert.equal(lines.length, 3);
    assert.doesNotMatch(lines.join('\n'), /sesame/);
  });

  it('checks an account by its own keys', (t) => {
    const lines = linesOf(
      keysOf(t, '    endpoints:\n      - {id: a, enabled: true, limit: none}\n', { pointer: '/plugins/x/endpoints/0' }),
    );

    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^svc\.config\.yml:7:\d+ plugins\.x\.endpoints\[0\]\.limit /);
  });

  it('takes an unset secret in test mode, and no other unset variable', (t) => {
    const secret = keysOf(t, '    secret: ${NOBODY}\n', { mode: 'test' });
    const other = keysOf(t, '    limit: ${NOBODY}\n', { mode: 'test' });

    assert.ok(secret.ok);
    assert.deepEqual(linesOf(other), [
      'svc.config.yml:6:5 plugins.x.limit needs the variable NOBODY, which is not set',
    ]);
  });
});
