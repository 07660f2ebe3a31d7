import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { effectiveValues, maskedConfig } from '../../../shared/config/effective.ts';
import type { LoadedConfig } from '../../../shared/config/load.ts';
import { faultsOf, GOOD_TOKEN, loadText } from '../../support/load-text.ts';

const HTTP = 'http:\n  token: ${HTTP_TOKEN}\n';
const nameOf = (shown: Readonly<Record<string, unknown>>): unknown => (shown['host'] as { readonly name: string }).name;
const shownName = (loaded: LoadedConfig): readonly unknown[] => [
  nameOf(maskedConfig(loaded)),
  effectiveValues(loaded).find(({ path }) => path === '/host/name')?.value,
];

describe('the variable of a secret', () => {
  const refused = (name: string, text: string, expected: string): void => {
    it(`is refused ${name}`, (t) => {
      const { error } = faultsOf(() => loadText(t, text, { env: { DEMO: 'demo-token-0123456789' } }));

      assert.equal(error.message, expected);
      assert.equal(error.code, 'config_invalid');
    });
  };
  const told = (place: string, variable = 'HTTP_TOKEN', of = 'http.token'): string =>
    `svc.config.yml:${place} takes ${variable}, which is the secret of ${of}, and is shown to others; give it a variable of its own`;

  refused('in a text of another key', `${HTTP}host:\n  name: x \${HTTP_TOKEN}\n`, told('4:3 host.name'));
  refused('as the whole of it', `${HTTP}host: { name: "\${HTTP_TOKEN}" }\n`, told('3:9 host.name'));
  refused('with a default', `${HTTP}host: { name: "\${HTTP_TOKEN:-bot}" }\n`, told('3:9 host.name'));
  refused(
    'in a list',
    `${HTTP}commands:\n  operators:\n    - { endpoint: "root/irc:irc", user: "\${HTTP_TOKEN}" }\n`,
    told('5:35 commands.operators[0].user'),
  );
  refused(
    'where it is of another token',
    `${HTTP}  demoToken: \${DEMO}\n  base: /\${DEMO}\n`,
    told('4:3 http.base', 'DEMO', 'http.demoToken'),
  );

  it('is told without its value, whatever else is wrong there', (t) => {
    const twice = ['full', 'demo']
      .map((scope) => `    - { name: "\${A}", token: "\${A}", scope: ${scope} }\n`)
      .join('');
    const { error } = faultsOf(() =>
      loadText(t, `${HTTP}  tokens:\n${twice}`, { env: { A: 'named-token-of-some-length' } }),
    );

    assert.match(error.message, /http\.tokens\[0\]\.name takes A, which is the secret of http\.tokens\[0\]\.token/);
    assert.ok(!error.message.includes('named-token'), error.message);
  });

  it('is refused in mode test, too', (t) => {
    const { error } = faultsOf(() => loadText(t, `${HTTP}host: { name: "\${HTTP_TOKEN}" }\n`, { mode: 'test' }));

    assert.equal(error.message, told('3:9 host.name'));
  });
});

describe('what is shown of a configuration', () => {
  it('has the reference where a key of a plugin takes the variable of a secret', (t) => {
    const loaded = loadText(t, `${HTTP}plugins:\n  hello:\n    header: Bearer \${HTTP_TOKEN}\n`);

    assert.deepEqual(maskedConfig(loaded)['plugins'], {
      hello: { enabled: true, header: 'Bearer ${HTTP_TOKEN}' },
    });
  });

  const shown = (t: TestContext, name: string, env: Readonly<Record<string, string>>, rest = ''): readonly unknown[] =>
    shownName(loadText(t, `${HTTP}${rest}host: { name: "${name}" }\n`, { env }));

  it('has the reference where a text holds the value of a secret under another name', (t) => {
    assert.deepEqual(shown(t, 'x ${LABEL}', { LABEL: GOOD_TOKEN }), ['x ${LABEL}', 'x ${LABEL}']);
  });

  it('masks a secret that was written as it is', (t) => {
    assert.deepEqual(shown(t, `x ${GOOD_TOKEN}`, {}), ['x [secret]', 'x [secret]']);
  });

  it('has the reference where its variable is one of a plugin, too', (t) => {
    const hook = 'plugins: { webhook: { endpoints: [{ id: a, secrets: ["${HOOK}"] }] } }\n';

    assert.deepEqual(shown(t, 'x ${HOOK}', { HOOK: 'whsec_1' }, hook), ['x ${HOOK}', 'x ${HOOK}']);
  });

  it('is not masked for a secret that is an ordinary word, or empty', (t) => {
    const rest = 'plugins: { hello: { token: "${A}", apiKey: "${B}", secret: "${C}" } }\n';

    assert.deepEqual(shown(t, 'a bot ${D}', { A: 'a', B: '', C: 'bot', D: 'of ours' }, rest), [
      'a bot of ours',
      'a bot of ours',
    ]);
  });
});
