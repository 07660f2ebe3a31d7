// Which paths stand for the code of a plugin, and when they are not what was loaded.
import assert from 'node:assert/strict';
import { join, relative } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { codeOf, LoadedCode } from '../../../worker/runtime/loading/loaded-code.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const codeIn = (t: TestContext, file: string, files: Readonly<Record<string, string>>) => {
  const { path, write } = temporaryProject(t);
  for (const [name, text] of Object.entries(files)) write(name, text);
  return { path, write, code: codeOf(join(path, file)).map((one) => relative(path, one)) };
};

describe('the code of a plugin', () => {
  it('is its file with all that is imported by relative paths, round and round', (t) => {
    const { code } = codeIn(t, 'a.js', {
      'a.js': "import x from './b.js';\nexport * from './lib/c.mjs';\nawait import('./d.json');\nimport 'node:fs';\n",
      'b.js': "import './a.js';\n",
      'lib/c.mjs': "import '../e.js';\n",
      'd.json': '{}',
      'e.js': 'import("./computed" + x);\n',
      'unrelated.js': '',
    });

    assert.deepEqual(code.toSorted(), ['a.js', 'b.js', 'computed.js', 'd.json', 'e.js', 'lib/c.mjs']);
  });

  it('finds what is required without an ending', (t) => {
    const { code } = codeIn(t, 'a.cjs', {
      'a.cjs': "require('./b');\nrequire('./lib');\nrequire('./gone');\n",
      'b.js': '',
      'lib/index.js': '',
    });

    assert.deepEqual(code, ['a.cjs', 'b.js', 'lib/index.js', 'gone.js']);
  });

  it('is the folder of an index file, and what lies outside of it', (t) => {
    const { code } = codeIn(t, 'own/index.js', {
      'own/index.js': "import './inner.js';\nimport '../shared.js';\n",
      'own/inner.js': '',
      'shared.js': '',
    });

    assert.deepEqual(code, ['own', 'shared.js']);
  });
});

describe('LoadedCode', () => {
  it('compares with the first load, whatever the file imports by now', (t) => {
    const { path, write } = codeIn(t, 'a.js', { 'a.js': "import './b.js';\n", 'b.js': '' });
    const [a, b] = [join(path, 'a.js'), join(path, 'b.js')];
    const code = new LoadedCode();
    const first = code.load(codeOf(a));
    write('b.js', '// changed\n');
    const changed = code.load(codeOf(a));
    write('a.js', '');

    assert.deepEqual([first, changed], [[], [b]]);
    assert.deepEqual(code.load(codeOf(a)), [a, b]);
    assert.deepEqual([code.changed([a]), code.changed([])], [[a, b], []]);
  });
});
