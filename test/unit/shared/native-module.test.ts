// Why native code cannot be loaded: what is read from the file before a load, and what is made of the error of one.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { isOfLoading, modulesUnusable, unfitFile } from '../../../shared/files/native-module.ts';
import { nativeFile, trySqlite } from '../../../shared/sqlite.ts';

const MAJOR = process.versions.node.split('.', 1)[0];
const isLinux = process.platform === 'linux' || 'ELF files are of Linux';

function folder(t: TestContext, files: Readonly<Record<string, string>> = {}): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'svc-native-')));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(path, name, '..'), { recursive: true });
    writeFileSync(join(path, name), text);
  }
  return path;
}

const sentence = (from: string, cause: unknown): string =>
  modulesUnusable({ name: 'some-native-package', from: pathToFileURL(from).href, cause }).message;

const OTHER_NODE = Object.assign(
  new Error(
    "The module 'x.node'\nwas compiled against a different Node.js version using\nNODE_MODULE_VERSION 115. This version of Node.js requires\nNODE_MODULE_VERSION 137. Please try re-compiling",
  ),
  { code: 'ERR_DLOPEN_FAILED' },
);

describe('a native module', () => {
  it('that this Node has loaded has nothing against it', () => {
    trySqlite();

    assert.equal(unfitFile(nativeFile() ?? ''), undefined);
  });

  it('cut short anywhere is told before a load, which would end the process', {
    skip: isLinux !== true && isLinux,
  }, (t) => {
    const bytes = readFileSync(nativeFile() ?? '');
    const path = folder(t);

    for (const length of [0, 3, 63, 64, 4_096, bytes.length - 1]) {
      const file = join(path, `of-${length}.node`);
      writeFileSync(file, bytes.subarray(0, length));
      assert.match(unfitFile(file) ?? '', new RegExp(`^of-${length}\\.node is cut short \\(${length} `));
    }
  });

  it('of another processor names both', { skip: isLinux !== true && isLinux }, () => {
    const other = process.arch === 'x64' ? 'arm64' : 'x64';

    assert.match(
      unfitFile(nativeFile() ?? '', other) ?? '',
      new RegExp(`is for ${process.arch}, this machine is ${other}$`),
    );
  });

  it('of another Node names both versions, and the folder to install in', (t) => {
    const path = folder(t, { 'package-lock.json': '{}', 'node_modules/svc/dist/worker.js': '' });

    assert.equal(
      sentence(join(path, 'node_modules/svc/dist/worker.js'), OTHER_NODE),
      `installed for Node 20, runs on Node ${MAJOR}: run npm ci in ${path}`,
    );
  });

  it('that is missing is told from a package that is', (t) => {
    const path = folder(t, {
      'package.json': '{"name":"svc"}',
      'dist/package.json': '{"type":"commonjs"}',
      'node_modules/some-native-package/index.js': '',
    });
    const bindings = Object.assign(new Error('Could not locate the bindings file. Tried:\n → x'), { tries: ['x'] });
    const missing = Object.assign(new Error("Cannot find module 'x'\nRequire stack:"), { code: 'MODULE_NOT_FOUND' });
    const here = join(path, 'dist/worker.js');

    assert.equal(
      sentence(here, bindings),
      `some-native-package is not whole, its native module is missing: install the packages again in ${path}`,
    );
    rmSync(join(path, 'node_modules'), { recursive: true });
    assert.match(
      sentence(here, missing),
      new RegExp(`^some-native-package is not installed, which Node ${MAJOR} needs: `),
    );
    for (const error of [bindings, missing, OTHER_NODE]) assert.ok(isOfLoading(error));
    for (const error of [new Error('x'), Object.assign(new Error('x'), { code: 'SQLITE_CORRUPT' }), null])
      assert.ok(!isOfLoading(error));
  });
});
