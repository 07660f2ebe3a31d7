// What may not be in the repository: hosts in the lockfile, paths of one machine, packages nobody can install.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { dependencies, INSTALLED, REASONS } from '../../.ci/build/dependencies.ts';
import { ROOT } from './source-tree.ts';

interface LockEntry {
  readonly integrity?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly resolved?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
}

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8');

describe('package-lock.json', () => {
  const entries = Object.entries(
    (JSON.parse(read('package-lock.json')) as { packages: Record<string, LockEntry> }).packages,
  ).filter(([path]) => path !== '');

  it('has an integrity for every package, but for binaries of other platforms that a registry may not carry', () => {
    const without = entries.filter(([, { integrity }]) => integrity?.startsWith('sha512-') !== true);

    assert.deepEqual(
      without.filter(([, { optional, os }]) => optional !== true || os === undefined).map(([path]) => path),
      [],
    );
  });

  it('has an entry for every optional dependency: without, `npm ci` refuses it', () => {
    const wanted = entries.flatMap(([, { optionalDependencies }]) => Object.keys(optionalDependencies ?? {}));

    assert.deepEqual(
      wanted.filter((name) => !entries.some(([path]) => path.endsWith(`node_modules/${name}`))),
      [],
    );
  });

  it('names no host', () => {
    assert.deepEqual(
      entries.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path),
      [],
    );
  });

  it('is in step with package.json', () => {
    const manifest = JSON.parse(read('package.json')) as Record<string, unknown>;
    const root = (JSON.parse(read('package-lock.json')) as { packages: Record<string, Record<string, unknown>> })
      .packages[''];

    for (const key of ['name', 'version', 'dependencies', 'devDependencies', 'engines'])
      assert.deepEqual(root?.[key], manifest[key], key);
  });
});

describe('package.json', () => {
  it('pins every dependency to one version', () => {
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
      string,
      Record<string, string>
    >;
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
    );

    assert.deepEqual(loose, []);
  });

  it('names no dependency without a reason, and brings no more packages along than were reviewed', () => {
    const { named, installed } = dependencies();

    assert.deepEqual(named, Object.keys(REASONS).toSorted());
    assert.ok(installed <= INSTALLED, `${installed} packages, ${INSTALLED} were reviewed: .ci/build/dependencies.ts`);
  });

  it('lets one package alone run a script when it is installed', () => {
    const { allowScripts } = JSON.parse(read('package.json')) as { readonly allowScripts: unknown };

    assert.deepEqual(allowScripts, { 'better-sqlite3': true });
  });
});

describe('the tree', { skip: existsSync(join(ROOT, '.git')) ? false : 'not a git checkout' }, () => {
  const names = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter((name) => name !== '' && existsSync(join(ROOT, name)));

  it('holds no path of the machine that it was written on', () => {
    const places = [ROOT.replace(/\/$/, ''), homedir()].filter((place) => place.length > 6);
    const found = names.filter((name) => places.some((place) => read(name).includes(`${place}/`)));

    assert.deepEqual(found, []);
  });

  it('names no package registry but in prose', () => {
    const found = names.filter(
      (name) =>
        !name.endsWith('.md') && name !== 'test/rules/tree.test.ts' && /registry\.[a-z]+\.(org|com)/.test(read(name)),
    );

    assert.deepEqual(found, []);
  });

  it('holds no secret file, state or build output', () => {
    assert.deepEqual(
      names.filter((name) => /(^|\/)(\.env|\.svc|dist|node_modules|coverage)(\/|$)/.test(name)),
      [],
    );
  });

  it('has nothing more at its top level than what ARCHITECTURE.md describes', () => {
    const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'svc.config.yml'];
    const texts = ['README.md', 'LICENSE', 'CHANGELOG.md', 'ARCHITECTURE.md'];
    const known = new Set([...files, ...texts, 'supervisor', 'worker', 'shared', 'test', 'deploy']);
    const top = new Set(names.map((name) => name.split('/')[0] ?? ''));

    assert.deepEqual(
      [...top].filter((name) => !name.startsWith('.') && !known.has(name)),
      [],
    );
  });
});
