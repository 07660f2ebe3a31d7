// Which variables hold a secret, before and after schemas of plugins are known, and what a child process gets of them.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { keepFromChildren, takeHanded, withheldVariables } from '../../../shared/config/environment.ts';
import { secretVariables } from '../../../shared/config/secret-variables.ts';

const ref = (name: string): string => `\${${name}}`;
const REFERENCES = new Map(
  Object.entries({
    '/host/name': ref('NAME'),
    '/http/token': ref('ONE'),
    '/plugins/own/list/0': ref('TWO'),
    '/plugins/own/url': `https://${ref('HOST')}/${ref('API_KEY')}`,
    '/plugins/own/region': ref('REGION'),
    '/plugins/own/home': ref('HOME'),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference with a default, which no secret has
    '/plugins/own/mode': '${MODE:-fast}',
  }).map(([path, text]) => {
    const names = [...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name);
    return [path, { text, whole: text.startsWith('$'), names, taken: names }];
  }),
);

const sorted = (names: Iterable<string>): readonly string[] => [...names].toSorted();

describe('variables that hold a secret', () => {
  it('may be all that stand alone at a key of a plugin, until its schema is known (SECRET-VARIABLES-2)', () => {
    const { secret, unjudged } = secretVariables(REFERENCES, {
      secretKeys: new Set(['/http/token']),
      slots: new Set(),
    });

    assert.deepEqual(sorted(secret), ['API_KEY', 'ONE']);
    assert.deepEqual(sorted(unjudged), ['REGION', 'TWO']);
  });

  it('are those of secret keys, whatever their names are (SECRET-VARIABLES-1)', () => {
    const known = { secretKeys: new Set(['/http/token', '/plugins/own/list/0']), slots: new Set(['own']) };

    const { secret, unjudged } = secretVariables(REFERENCES, known);

    assert.deepEqual(sorted(secret), ['API_KEY', 'ONE', 'TWO']);
    assert.deepEqual(sorted(unjudged), []);
  });
});

describe('a child process', () => {
  it('gets no secret, and gets back what was only taken for one (ENV-4)', (t) => {
    const names = ['SVC_TEST_A', 'SVC_TEST_B', 'SVC_TEST_C'];
    for (const name of names) process.env[name] = 'x';
    t.after(() => {
      keepFromChildren({ secret: new Set(), unjudged: new Set() });
      for (const name of names) delete process.env[name];
    });
    const got = (): readonly string[] => {
      const lines = execFileSync('env', { encoding: 'utf8' }).split('\n');
      return names.filter((name) => lines.includes(`${name}=x`));
    };

    keepFromChildren({ secret: new Set(['SVC_TEST_A']), unjudged: new Set(['SVC_TEST_B', 'SVC_TEST_C']) });
    assert.deepEqual(got(), []);
    keepFromChildren({ secret: new Set(['SVC_TEST_A', 'SVC_TEST_C']), unjudged: new Set() });
    assert.deepEqual(got(), ['SVC_TEST_B']);
    // Judged once: the next assembly, which begins again, leaves it where running plugins need it.
    keepFromChildren({ secret: new Set(['SVC_TEST_A']), unjudged: new Set(['SVC_TEST_B', 'SVC_TEST_C']) });
    assert.deepEqual(got(), ['SVC_TEST_B']);
  });

  it('gets what its owner handed down apart as a secret, once it is known to be none', (t) => {
    const names = ['SVC_TEST_D', 'SVC_TEST_E', 'SVC_TEST_F'];
    t.after(() => {
      for (const name of names) delete process.env[name];
    });
    const got = (): readonly string[] => names.filter((name) => process.env[name] === 'x');
    takeHanded(Object.fromEntries(names.map((name) => [name, 'x'])));

    keepFromChildren({ secret: new Set(['SVC_TEST_D']), unjudged: new Set(['SVC_TEST_D', 'SVC_TEST_E']) });
    const before = got();
    keepFromChildren({ secret: new Set(['SVC_TEST_D']), unjudged: new Set() });

    assert.deepEqual([before, got()], [[], ['SVC_TEST_E']]);
    assert.deepEqual(withheldVariables(), [], 'they were not in the environment of this process');
  });
});
