// Two releases of a project that lies below the root of its repository, over real git, npm and a daemon: the second follows on the first, and goes back to it.
// HEAD and the other projects of the repository stay as they are.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { listReleases, openRelease, writeRelease } from '../../../shared/recovery/release-record.ts';
import { handledBy, plugin, type ReleasedProject, releasedProject } from '../../support/process/released-project.ts';
import { untilReady } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

async function done(of: ReleasedProject, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await of.svc(...args);
  assert.equal(code, 0, `svc ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** C has neither the file that came with B, nor its plugin. Returns the commit; A is checked out. */
function commitC({ project, git, commits }: ReleasedProject): string {
  git('checkout', '-q', commits.b);
  project.write('book.mjs', plugin('C'));
  git('rm', '-q', 'came-with-b.txt');
  git('commit', '-q', '-a', '-m', 'C');
  const commit = git('rev-parse', 'HEAD');
  git('checkout', '-q', commits.a);
  return commit;
}

/** The same commit of B, with one file more. */
function withFile({ project, git, commits }: ReleasedProject): string {
  git('checkout', '-q', commits.b);
  project.write('came-with-b.txt', 'of B\n');
  git('add', '-A');
  git('commit', '-q', '-m', 'B, and a file');
  const commit = git('rev-parse', 'HEAD');
  git('checkout', '-q', commits.a);
  return commit;
}

async function finished(of: ReleasedProject): Promise<void> {
  const record = openRelease(of.project.path) ?? assert.fail();
  writeRelease(of.project.path, { ...record, windowUntil: new Date(Date.now() - 1).toISOString() });
  await done(of, 'release', 'finish', '--unclear');
}

it('a project below the root of its repository is released, released again and rolled back', {
  timeout: 900_000,
}, async (t) => {
  const made = await releasedProject(t, { b: plugin('B'), isBelowRoot: true });
  const shop = { ...made, commits: { ...made.commits, b: withFile(made) } };
  const { project, url, git, commits } = shop;
  const c = commitC(shop);
  const cameWithB = join(project.path, 'came-with-b.txt');
  await done(shop, 'runtime', 'start', '--daemon', '--timeout', '120');

  await done(shop, 'release', 'begin', '--to', commits.b);
  await done(shop, 'release', 'check');
  const started = await done(shop, 'release', 'start');
  await untilReady(url);
  await done(shop, 'release', 'accept', '--reason', 'tried by hand');
  await done(shop, 'release', 'observe');
  assert.equal(await shop.deliver('m1'), 200);
  await until(() => handledBy(shop).length === 1, { what: 'a message of the window' });
  await finished(shop);
  const older = await shop.svc('release', 'begin', '--to', commits.a);
  project.write('book.mjs', `${plugin('B')}// edited\n`);
  const edited = await shop.svc('release', 'begin', '--to', c);
  project.write('book.mjs', plugin('B'));

  assert.match(started, /HEAD stays at [0-9a-f]{12}: git shows files of [0-9a-f]{12} as changed/);
  assert.deepEqual([handledBy(shop), existsSync(cameWithB)], [['B m1'], true]);
  assert.match(older.stderr, /is older than the commit that runs/);
  assert.match(edited.stderr, /book\.mjs was changed and is not committed/);

  await done(shop, 'release', 'begin', '--to', c);
  await done(shop, 'release', 'check');
  await done(shop, 'release', 'start');
  await untilReady(url);
  const ofC = [project.read('book.mjs') === plugin('C'), existsSync(cameWithB)];
  assert.equal(await shop.deliver('m2'), 200);
  rmSync(join(project.path, '.svc/releases/r2/previous'), { recursive: true }); // somebody needed room
  await done(shop, 'release', 'rollback', '--yes');
  await untilReady(url);
  await until(() => handledBy(shop).length === 2, { what: 'what was parked' });

  assert.deepEqual(ofC, [true, false]);
  assert.deepEqual(handledBy(shop), ['B m1', 'B m2']);
  assert.deepEqual([project.read('book.mjs') === plugin('B'), existsSync(cameWithB)], [true, true]);
  assert.deepEqual(
    listReleases(project.path).map(({ state, before }) => [state, before.commit]),
    [
      ['finished', commits.a],
      ['rolled_back', commits.b],
    ],
  );
  assert.equal(git('rev-parse', 'HEAD'), commits.a);
  assert.equal(git('diff', '--cached', '--name-only'), '');
  assert.equal(readFileSync(join(dirname(project.path), 'other/main.js'), 'utf8'), 'of another project\n');
});
