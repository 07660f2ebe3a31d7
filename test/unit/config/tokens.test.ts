import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { ERRORS } from '../../../shared/error-codes.ts';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { faultsOf, GOOD_TOKEN, loadText } from '../../support/load-text.ts';

const GOOD = 'http:\n  token: ${HTTP_TOKEN}\n';

describe('tokens', () => {
  const refused = (name: string, setup: { text?: string; env?: Record<string, string> }, expected: RegExp): void => {
    it(`ends in 78 for ${name}`, (t) => {
      const { error } = faultsOf(() => loadText(t, setup.text ?? GOOD, { env: setup.env ?? {} }));

      assert.match(error.message, expected);
      assert.equal(ERRORS[error.code].exit, EXIT.config);
      for (const value of Object.values(setup.env ?? {}))
        assert.ok(value.length < 6 || !error.message.includes(value), 'the message shows a secret');
    });
  };

  refused('a missing token', { text: 'http: {}\n' }, /^svc\.config\.yml:1:1 http\.token is missing/);
  refused('a file without anything', { text: '' }, /^svc\.config\.yml:1:1 http\.token is missing/);
  refused(
    '0.0.0.0 without a token',
    { text: 'http:\n  host: 0.0.0.0\n' },
    /^svc\.config\.yml:1:1 http\.token is missing/,
  );
  refused(
    'an empty token',
    { env: { HTTP_TOKEN: '' } },
    /^svc\.config\.yml:2:3 http\.token is empty; a variable that the process has as empty wins over \.env$/,
  );
  refused(
    'a blank token',
    { env: { HTTP_TOKEN: '                    ' } },
    /^svc\.config\.yml:2:3 http\.token is empty; a variable that the process has as empty wins over \.env$/,
  );
  refused('the example value', { env: { HTTP_TOKEN: 'replace-me' } }, /http\.token is still the example value/);
  refused('a token that holds ${', { env: { HTTP_TOKEN: '${HTTP_TOKEN_FILE_X}' } }, /http\.token still holds/);
  refused(
    'a token of two lines',
    { env: { HTTP_TOKEN: 'abcdefghijklmnop\nqrstuvwxyz' } },
    /http\.token must be letters, digits/,
  );
  refused(
    'a token that cannot be sent after Bearer',
    { env: { HTTP_TOKEN: 'abc!def:ghijklmnop1234' } },
    /http\.token must be letters, digits/,
  );
  refused(
    'a token that is longer than what is taken after Bearer',
    { env: { HTTP_TOKEN: 'a'.repeat(513) } },
    /http\.token must be letters, digits/,
  );
  refused(
    'the demo token',
    { text: `${GOOD}  demoToken: \${DEMO}\n`, env: { DEMO: GOOD_TOKEN } },
    /^svc\.config\.yml:3:3 http\.demoToken must differ from http\.token$/,
  );
  refused(
    'a secret of a webhook',
    { text: `${GOOD}plugins:\n  webhook:\n    endpoints: [{id: a, secret: "\${HOOK}"}]\n`, env: { HOOK: GOOD_TOKEN } },
    /plugins\.webhook\.endpoints\[0\]\.secret must differ from http\.token/,
  );
  refused(
    'eight characters on 0.0.0.0',
    { text: `${GOOD}  host: 0.0.0.0\n`, env: { HTTP_TOKEN: 'abcdefgh' } },
    /http\.token must have at least 16 characters/,
  );
  refused(
    'a literal',
    { text: 'http:\n  token: abcdefghijklmnopqrstuvwxyz\n' },
    /^svc\.config\.yml:2:3 http\.token must be a reference like \$\{NAME\}, not the secret itself$/,
  );
  refused(
    'a default',
    { text: 'http:\n  token: ${HTTP_TOKEN:-abcdefghijklmnopqrstuvwxyz}\n' },
    /http\.token must be a reference without a default/,
  );
  refused(
    'a reference with more around it',
    { text: 'http:\n  token: x${HTTP_TOKEN}\n' },
    /http\.token must be a reference like/,
  );
  refused(
    'two equal named tokens',
    {
      text: `${GOOD}  tokens:\n    - {name: a, token: "\${A}", scope: full}\n    - {name: b, token: "\${A}", scope: demo}\n`,
      env: { A: 'named-token-of-some-length' },
    },
    /http\.tokens\[1\]\.token must differ from http\.tokens\[0\]\.token/,
  );
  refused(
    'two tokens of one name',
    {
      text: `${GOOD}  tokens:\n    - {name: a, token: "\${A}", scope: full}\n    - {name: a, token: "\${B}", scope: demo}\n`,
      env: { A: 'named-token-of-some-length', B: 'named-token-of-other-length' },
    },
    /http\.tokens\[1\]\.name a is the name of another token/,
  );

  it('tells two tokens of one name in test mode as well', (t) => {
    const text = `${GOOD}  tokens:\n    - {name: a, token: "\${A}", scope: full}\n    - {name: a, token: "\${B}", scope: demo}\n`;

    const { error } = faultsOf(() => loadText(t, text, { mode: 'test' }));

    assert.match(error.message, /http\.tokens\[1\]\.name a is the name of another token/);
  });

  it('tells an unset variable as a fault of secrets', (t) => {
    const { error } = faultsOf(() => loadText(t, 'http:\n  token: ${NOBODY_SET_THIS}\n'));

    assert.equal(error.code, 'secret_invalid');
    assert.equal(error.message, 'svc.config.yml:2:3 http.token needs the variable NOBODY_SET_THIS, which is not set');
  });

  it('does not take what .env.example holds', (t) => {
    const example = parseEnv(readFileSync(new URL('../../../.env.example', import.meta.url), 'utf8'));

    const { error } = faultsOf(() => loadText(t, GOOD, { env: { HTTP_TOKEN: example['HTTP_TOKEN'] ?? '' } }));

    assert.match(error.message, /http\.token is still the example value/);
  });

  it('warns of eight characters on loopback', (t) => {
    for (const host of ['127.0.0.1', '127.9.9.9', '"::1"', '"0:0:0:0:0:0:0:1"', '"::ffff:127.0.0.1"']) {
      const { warnings } = loadText(t, `${GOOD}  host: ${host}\n`, { env: { HTTP_TOKEN: 'abcdefgh' } });

      assert.deepEqual(warnings, [
        'svc.config.yml:2:3 http.token must have at least 16 characters; make one with `svc token create`',
      ]);
    }
  });

  it('takes named tokens', (t) => {
    const { config } = loadText(t, `${GOOD}  tokens: [{name: next, token: "\${A}", scope: demo}]\n`, {
      env: { A: 'named-token-of-some-length' },
    });

    assert.deepEqual(
      [config.http.tokens[0]?.name, config.http.tokens[0]?.scope, config.http.tokens[0]?.token.reveal()],
      ['next', 'demo', 'named-token-of-some-length'],
    );
  });

  it('only warns in test mode, with a value that nobody can guess', (t) => {
    const missing = loadText(t, 'http: {}\n', { mode: 'test' });
    const unset = loadText(t, 'http:\n  token: ${NOBODY_SET_THIS}\n', { mode: 'test' });
    const short = loadText(t, `${GOOD}  host: 0.0.0.0\n`, { mode: 'test', env: { HTTP_TOKEN: 'abc' } });

    assert.deepEqual(
      [missing, unset, short].map(({ warnings }) => warnings.length),
      [1, 1, 1],
    );
    assert.match(missing.config.http.token.reveal(), /^[\w-]{43}$/);
    assert.notEqual(missing.config.http.token.reveal(), unset.config.http.token.reveal());
  });

  it('takes no less in test mode where it serves', (t) => {
    const served = { mode: 'test', servesNothing: false } as const;

    for (const [text, token] of [
      ['http: {}\n', GOOD_TOKEN],
      ['http:\n  token: ${NOBODY_SET_THIS}\n', GOOD_TOKEN],
      [`${GOOD}  host: 0.0.0.0\n`, 'abc'],
      [GOOD, 'replace-me'],
    ] as const)
      assert.equal(
        faultsOf(() => loadText(t, text, { ...served, env: { HTTP_TOKEN: token } })).error.code,
        'secret_invalid',
        text,
      );
  });

  it('does not take a literal in test mode either', (t) => {
    assert.match(
      faultsOf(() => loadText(t, 'http:\n  token: abcdefghijklmnop\n', { mode: 'test' })).error.message,
      /not the secret itself/,
    );
  });
});
