// Where the code of a release comes from, on real git: its tree, what may follow on the code that runs, and what git shows. A project may be the root of its
// repository, or lie below it.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { writeRelease } from '../../../shared/recovery/release-record.ts';
import { refuseUnfit, sourceOf } from '../../../supervisor/cli/release/begin.ts';
import { moveHead } from '../../../supervisor/cli/release/repository.ts';
import { lockfileOf, makeTree, nextTree } from '../../../supervisor/cli/release/tree.ts';
import { stayingEntries } from '../../../supervisor/cli/release/untracked.ts';
import { type GitProject, gitProject } from '../../support/git-repository.ts';
import { releaseRecord } from '../../support/recovery/release-record.ts';

const ofCommit = (value: string) => ({ kind: 'commit', value }) as const;
const before = { commit: null, lockfile: null, configVersion: null, svc: null, schema: null };

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted();

function finish({ path }: GitProject, name: string, commit: string, lockfile: string | null = null): void {
  const source = ofCommit(commit);
  writeRelease(
    path,
    releaseRecord({ name, steps: ['begun', 'finished'], begunAt: 0, source, before: { ...before, lockfile } }),
  );
}

describe('the tree of a commit', () => {
  for (const isBelowRoot of [false, true])
    it(`has the files of the project ${isBelowRoot ? 'below the root of its repository' : 'at the root'} alone`, async (t) => {
      const project = gitProject(t, { isBelowRoot });
      const { path, root, git, options } = project;
      // An attribute that names the folder from the root.
      const folder = isBelowRoot ? `${basename(path)}/` : '';
      writeFileSync(join(root, '.gitattributes'), `/${folder}src/dos.txt text eol=crlf\n`);
      project.write('src/main.js', 'A');
      project.write('src/dos.txt', 'a line\n');
      const commit = project.commit('A');

      const next = await makeTree(nextTree(path, 'r1'), ofCommit(commit), options);

      const own = ['.gitignore', 'package-lock.json', 'package.json', 'src/dos.txt', 'src/main.js', 'svc.config.yml'];
      assert.deepEqual(filesBelow(next), [...(isBelowRoot ? [] : ['.gitattributes']), ...own].toSorted());
      assert.equal(readFileSync(join(next, 'src/main.js'), 'utf8'), 'A');
      assert.equal(readFileSync(join(next, 'src/dos.txt'), 'utf8'), 'a line\r\n');
      assert.deepEqual(readdirSync(join(path, '.svc/releases/r1')), ['next']);
      assert.equal(git('status', '--porcelain'), '');
    });

  it('is refused without package.json, before ingress is paused and where it is made', async (t) => {
    const project = gitProject(t, { isBelowRoot: true });
    const { path, git, options } = project;
    project.commit('A');
    git('rm', '-q', '--cached', 'package.json');
    git('commit', '-q', '-m', 'B');
    const commit = git('rev-parse', 'HEAD');
    const folder = mkdtempSync(join(tmpdir(), 'svc-next-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const message = new RegExp(`^there is no package.json in commit ${commit.slice(0, 12)}, in ${basename(path)}/: `);

    await assert.rejects(sourceOf({ to: commit, from: undefined, image: false }, options), { code: 'usage', message });
    await assert.rejects(makeTree(nextTree(path, 'r1'), ofCommit(commit), options), { code: 'refused', message });
    await assert.rejects(makeTree(nextTree(path, 'r1'), { kind: 'folder', value: folder }, options), {
      code: 'refused',
      message: `there is no package.json in ${folder}: without it npm would install into the project that serves`,
      hint: /^add package\.json/,
    });
    assert.deepEqual(readdirSync(join(path, '.svc/releases/r1')), []);
  });
});

/** Commits A, B and C. A is checked out, as git shows it; the code is of B, as a release has brought it. */
function releasedBelowRoot(t: TestContext) {
  const project = gitProject(t, { isBelowRoot: true });
  const { git } = project;
  const version = (name: string, files: Readonly<Record<string, string>>): string => {
    for (const [path, text] of Object.entries(files)) project.write(path, text);
    return project.commit(name);
  };
  const a = version('A', { 'src/main.js': 'A' });
  const b = version('B', { 'src/main.js': 'B', 'src/new.js': 'B' });
  const c = version('C', { 'src/main.js': 'C' });
  git('checkout', '-q', a);
  project.write('src/main.js', 'B');
  project.write('src/new.js', 'B');
  finish(project, 'r1', b);
  return { ...project, commits: { a, b, c }, fits: (commit: string) => refuseUnfit(ofCommit(commit), project.options) };
}

describe('a project below the root of its repository, behind a release', () => {
  it('is of the commit that was released: newer code follows on it, older code does not', async (t) => {
    const project = releasedBelowRoot(t);
    const { commits, git, fits } = project;

    assert.equal(await fits(commits.c), commits.b);
    await assert.rejects(fits(commits.a), { code: 'downgrade_alone' });
    writeRelease(
      project.path,
      releaseRecord({ name: 'r2', steps: ['begun', 'rolled_back'], begunAt: 1, source: ofCommit(commits.c) }),
    );
    assert.equal(await fits(commits.c), commits.b);
    project.write('src/new.js', 'edited');
    await assert.rejects(fits(commits.c), {
      code: 'refused',
      message: /^src\/new\.js was changed and is not committed/,
    });
    git('checkout', '-q', '-f', commits.c); // by hand
    assert.equal(await fits(commits.c), commits.c);
  });

  it('is of HEAD where git has lost the commit that was released', async (t) => {
    const project = releasedBelowRoot(t);
    const { commits, git, fits } = project;
    git('checkout', '-q', '-f', commits.a);
    finish(project, 'r2', 'f'.repeat(40));

    assert.equal(await fits(commits.c), commits.a);
  });

  it('keeps HEAD and index, and says what git shows, unless HEAD is that commit', async (t) => {
    const { commits, git, options, root } = releasedBelowRoot(t);

    const there = await moveHead(commits.b, options);
    const back = await moveHead(commits.a, options);

    assert.match(
      there ?? '',
      new RegExp(`HEAD stays at ${commits.a.slice(0, 12)}: git shows files of ${commits.b.slice(0, 12)}`),
    );
    assert.equal(back, undefined);
    assert.equal(git('rev-parse', 'HEAD'), commits.a);
    assert.equal(git('diff', '--cached', '--name-only'), '');
    assert.equal(readFileSync(join(root, 'other/main.js'), 'utf8'), 'of another project\n');
  });

  it('takes files of the released commit for code, and others for files of no version', async (t) => {
    const project = releasedBelowRoot(t);
    const { path, commits, options } = project;
    project.write('notes.txt', 'mine');
    const comes = nextTree(path, 'r2');
    mkdirSync(comes, { recursive: true });

    const staying = await stayingEntries({ name: 'r2', comes, before: { ...before, commit: commits.b } }, options);

    assert.deepEqual(staying, ['notes.txt']);
    assert.equal(existsSync(join(path, '.svc/releases/r2/before.index')), false);
  });
});

describe('the lockfile that a finished release has replaced', () => {
  /** Three lockfiles; the second is installed, and release r1 has replaced the first. */
  function released(t: TestContext) {
    const project = gitProject(t, { isBelowRoot: false });
    const { git, path } = project;
    const first = project.read('package-lock.json');
    const [second, third] = ['2.0.0', '3.0.0'].map((version) => first.replaceAll('1.0.0', version));
    const withLock = (name: string, text: string, start?: string): string => {
      if (start !== undefined) git('checkout', '-q', start);
      project.write('package-lock.json', text);
      project.write('src/main.js', name);
      return project.commit(name);
    };
    const a = withLock('A', first);
    const replaced = lockfileOf(path);
    const b = withLock('B', second ?? '');
    const commits = {
      revert: withLock('revert', first),
      branch: withLock('branch', first, a),
      forward: withLock('forward', third ?? '', b),
      same: withLock('same', second ?? '', b),
    };
    git('checkout', '-q', b);
    finish(project, 'r1', b, replaced);
    return { ...project, first, commits, fits: (commit: string) => refuseUnfit(ofCommit(commit), project.options) };
  }
  const refused = { code: 'downgrade_alone', message: 'its lockfile is the one that release r1 replaced' };

  it('does not come back alone by a commit, be it a revert or one of another branch', async (t) => {
    const { commits, fits, git } = released(t);

    await assert.rejects(fits(commits.revert), refused);
    await assert.rejects(fits(commits.branch), refused);
    for (const commit of [commits.forward, commits.same]) assert.equal(await fits(commit), git('rev-parse', 'HEAD'));
  });

  it('does not come back alone by a folder', async (t) => {
    const { first, options } = released(t);
    const folder = mkdtempSync(join(tmpdir(), 'svc-next-'));
    t.after(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'package-lock.json'), first);
    const from = { kind: 'folder', value: folder } as const;

    await assert.rejects(refuseUnfit(from, options), refused);
    writeFileSync(join(folder, 'package-lock.json'), `${first} `);
    assert.match((await refuseUnfit(from, options)) ?? '', /^[0-9a-f]{40}$/);
  });
});
