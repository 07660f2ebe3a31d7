// Files among the code that belong to no version: they stay where they are, there and back, and none is deleted.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openRelease, writeRelease } from '../../../shared/recovery/release-record.ts';
import { commands } from '../../../supervisor/cli/commands/release.ts';
import { noteCame, removeTree, stayingEntries } from '../../../supervisor/cli/release/untracked.ts';
import { switchCode } from '../../../worker/recovery/release/switch-code.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { releaseRecord } from '../../support/recovery/release-record.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

/** A project with code in `src`, and a tree with the next version of it. */
function exchanged(t: TestContext, { withGit }: { readonly withGit: boolean }) {
  const project = temporaryProject(t);
  const { path, paths } = project;
  const [previous, next, failed] = ['previous', 'next', 'failed'].map((name) => join(paths.releasesDir, 'r1', name));
  const put = (folder: string, name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: path,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: path, GIT_CONFIG_NOSYSTEM: '1' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  mkdirSync(paths.stateDir, { mode: 0o700 });
  put(path, 'src/main.js', 'A');
  put(path, 'src/old.js', 'A');
  put(path, '.gitignore', '/.svc/\n.env\ndist/\nlocal.json\n');
  if (withGit) {
    git('init', '-q', '-b', 'main');
    git('add', '-A');
    git('commit', '-q', '-m', 'A');
  }
  for (const name of ['package.json', 'package-lock.json', 'svc.config.yml', '.gitignore'])
    put(next ?? '', name, readFileSync(join(path, name), 'utf8'));
  put(next ?? '', 'src/main.js', 'B');
  const commit = withGit ? git('rev-parse', 'HEAD') : null;
  const { before, ...rest } = releaseRecord({ steps: ['begun'], begunAt: 0 });
  const record = { ...rest, before: { ...before, commit } };
  const options = { project: path, env: { PATH: process.env['PATH'], HOME: path }, signal: t.signal };
  const move = async (comes: string, aside: string): Promise<void> => {
    const staying = await stayingEntries({ name: 'r1', comes, before: record.before }, options);
    switchCode({ project: path, environment: {}, name: 'r1', aside, comes, staying });
  };
  return {
    ...project,
    put: (name: string, text: string) => put(path, name, text),
    come: (name: string, text: string) => put(next ?? '', name, text),
    async there(): Promise<void> {
      noteCame(path, 'r1', next ?? '');
      await move(next ?? '', previous ?? '');
    },
    back: () => move(previous ?? '', failed ?? ''),
    /** Returns what is kept. */
    remove: (tree: 'previous' | 'failed') => removeTree(join(paths.releasesDir, 'r1', tree), record, options),
    files: (tree: 'previous' | 'failed'): readonly string[] => {
      const folder = join(paths.releasesDir, 'r1', tree);
      if (!existsSync(folder)) return [];
      return readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .toSorted();
    },
  };
}

describe('files of no version, with git', () => {
  it('stay among the code at any depth, also those that git ignores, also where the folder of code goes', async (t) => {
    const of = exchanged(t, { withGit: true });
    of.put('notes.txt', 'mine');
    of.put('src/local.json', '{"mine":1}');
    of.put('src/uploads/1/a.png', 'a picture');
    of.put('lib/gone.js', 'not of B');

    await of.there();
    of.put('src/uploads/2/b.png', 'of the window');
    const there = ['notes.txt', 'src/local.json', 'src/uploads/1/a.png'].map((name) => of.read(name));
    const code = [of.read('src/main.js'), existsSync(join(of.path, 'src/old.js'))];
    await of.back();

    assert.deepEqual([...there, ...code], ['mine', '{"mine":1}', 'a picture', 'B', false]);
    assert.deepEqual(
      ['src/main.js', 'src/old.js', 'src/local.json', 'src/uploads/1/a.png', 'src/uploads/2/b.png'].map(of.read),
      ['A', 'A', '{"mine":1}', 'a picture', 'of the window'],
    );
    assert.deepEqual(await of.remove('failed'), []);
    assert.deepEqual(of.files('failed'), []);
  });

  it('are kept where the new version has a file of that name, and what git ignores is not', async (t) => {
    const of = exchanged(t, { withGit: true });
    of.put('src/settings.json', 'mine');
    of.put('dist/main.js', 'built of A');
    of.come('src/settings.json', 'of B');
    of.come('dist/main.js', 'built of B');

    await of.there();
    const kept = await of.remove('previous');

    assert.equal(of.read('src/settings.json'), 'of B');
    assert.deepEqual(kept, ['src/settings.json']);
    assert.deepEqual(of.files('previous'), ['src/settings.json']);
  });

  it('are told from what came with the release: its files and what its build has made go with it', async (t) => {
    const of = exchanged(t, { withGit: true });
    of.come('docs/new.md', 'of B');
    of.come('dist/main.js', 'built of B');

    await of.there();
    await of.back();

    assert.deepEqual(
      ['docs', 'dist'].map((name) => existsSync(join(of.path, name))),
      [false, false],
    );
    assert.deepEqual(await of.remove('failed'), []);
  });

  it('do not stay where the new version has a file in place of their folder', async (t) => {
    const of = exchanged(t, { withGit: true });
    of.put('src/plugins/state.json', 'mine');
    of.come('src/plugins', 'a file');

    await of.there();

    assert.deepEqual(await of.remove('previous'), ['src/plugins/state.json']);
  });
});

describe('files of no version, without git', () => {
  it('move with the code and come back with it; those that the project lacks are kept when the code goes', async (t) => {
    const of = exchanged(t, { withGit: false });
    of.put('src/local.json', 'mine');

    await of.there();
    const there = existsSync(join(of.path, 'src/local.json'));
    of.put('src/cache.json', 'of the window');
    await of.back();
    const back = of.read('src/local.json');
    const kept = await of.remove('failed');

    assert.deepEqual([there, back, kept], [false, 'mine', ['src/cache.json']]);
    assert.deepEqual(of.files('failed'), ['src/cache.json']);
    rmSync(join(of.paths.releasesDir, 'r1', 'failed'), { recursive: true });
  });

  it('are kept when the release is finished', async (t) => {
    const of = exchanged(t, { withGit: false });
    of.put('src/local.json', 'mine');

    await of.there();

    assert.deepEqual((await of.remove('previous')).toSorted(), ['src/local.json', 'src/old.js']);
    assert.deepEqual(of.files('previous'), ['src/local.json', 'src/old.js']);
  });
});

describe('a finish that was cut', () => {
  it('is done by the next one, which ends well', async (t) => {
    const { path, paths } = temporaryProject(t);
    const previous = join(paths.releasesDir, 'r1', 'previous');
    mkdirSync(join(previous, 'node_modules/a'), { recursive: true });
    writeRelease(path, releaseRecord({ steps: ['begun', 'observing', 'finished'], begunAt: 0 }));
    const finish = commands.find(({ verb }) => verb === 'finish') ?? assert.fail();

    const code = await finish.run({ ...capturedContext(''), project: () => path }, [], {});

    assert.deepEqual([code, existsSync(previous)], [0, false]);
  });
});

describe('a rollback before the start of the new version', () => {
  /** The svc of the project opens no ingress until `isBack` is called. */
  function checked(t: TestContext) {
    const { path, paths, env } = temporaryProject(t);
    const [next, previous] = ['next', 'previous'].map((name) => join(paths.releasesDir, 'r1', name));
    const put = (file: string, text: string): void => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    };
    mkdirSync(paths.stateDir, { mode: 0o700 });
    put(join(next ?? '', 'package.json'), '{}');
    const cli = "process.exitCode = process.argv[3] === 'resume' && !require('node:fs').existsSync('back') ? 1 : 0;";
    put(join(path, 'node_modules/svc/dist/cli.js'), cli);
    writeRelease(path, releaseRecord({ steps: ['begun', 'checked'], begunAt: 0 }));
    const command = commands.find(({ verb }) => verb === 'rollback') ?? assert.fail();
    return {
      rollback: () => command.run({ ...capturedContext(''), env, project: () => path }, [], {}),
      isBack: () => put(join(path, 'back'), ''),
      state: () => openRelease(path)?.state,
      trees: () => [next, previous].filter((tree) => existsSync(tree ?? '')).length,
    };
  }

  it('that could not open ingress is done by the next one, which makes no code anew', async (t) => {
    const of = checked(t);

    await assert.rejects(of.rollback(), /ingress resume/);
    const between = of.state();
    of.isBack();
    const code = await of.rollback();

    assert.deepEqual([between, code, of.state(), of.trees()], ['checked', 0, undefined, 0]);
  });
});

describe('a rollback that was cut behind its record', () => {
  it('is done by the next one, which removes what has failed', async (t) => {
    const { path, paths } = temporaryProject(t);
    const failed = join(paths.releasesDir, 'r1', 'failed');
    mkdirSync(join(failed, 'node_modules/a'), { recursive: true });
    writeRelease(path, releaseRecord({ steps: ['begun', 'checked', 'started', 'rolled_back'], begunAt: 0 }));
    const rollback = commands.find(({ verb }) => verb === 'rollback') ?? assert.fail();

    const code = await rollback.run({ ...capturedContext(''), project: () => path }, [], {});

    assert.deepEqual([code, existsSync(failed)], [0, false]);
  });
});
