// A release over real git, npm and a daemon: another version comes, is watched, and goes back with code, lockfile and data together.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Acceptance } from '../../../shared/api/recovery/acceptance.ts';
import { listReleases, type ReleaseRecord } from '../../../shared/recovery/release-record.ts';
import {
  handledBy as handled,
  plugin,
  putJob,
  type ReleasedProject,
  releasedProject,
} from '../../support/process/released-project.ts';
import { untilReady } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

async function done(of: ReleasedProject, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await of.svc(...args);
  assert.equal(code, 0, `svc ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

const record = ({ project }: ReleasedProject): ReleaseRecord | undefined => listReleases(project.path).at(-1);

async function ingress(of: ReleasedProject): Promise<unknown> {
  const { state, mode, reason } = JSON.parse((await of.svc('ingress', 'status', '--json')).stdout);
  return [state, mode, reason];
}

describe('a release', { timeout: 900_000 }, () => {
  it('brings another version, and its rollback brings back code and data; each message is handled once', async (t) => {
    const shop = await releasedProject(t, { b: plugin('B') });
    const { svc: _, project, url, commits, git } = shop;
    project.write('notes.txt', 'of an operator'); // git does not track it
    await done(shop, 'runtime', 'start', '--daemon', '--timeout', '120');
    assert.equal(await shop.deliver('m1'), 200);
    await until(() => handled(shop).length === 1, { what: 'the first message' });

    await done(shop, 'release', 'begin', '--to', commits.b);
    assert.equal(await shop.deliver('m2'), 200);
    await done(shop, 'release', 'check');
    await done(shop, 'release', 'start');
    await untilReady(url);
    assert.equal(await shop.deliver('m3'), 200);
    assert.deepEqual(handled(shop), ['A m1']);
    assert.equal(git('rev-parse', 'HEAD'), commits.b);
    assert.equal(git('status', '--porcelain'), '?? notes.txt');
    await done(shop, 'release', 'accept', '--settle', 'host=as planned');
    await done(shop, 'release', 'observe');
    await until(() => handled(shop).length === 3, { what: 'what was parked' });
    assert.deepEqual(handled(shop), ['A m1', 'B m2', 'B m3']);

    const early = await shop.svc('release', 'finish');
    assert.equal(early.code, 1);
    assert.match(early.stderr, /the window of r1 runs until/);
    rmSync(join(project.path, '.svc/releases/r1/previous'), { recursive: true }); // somebody needed room
    await done(shop, 'ingress', 'pause', '--mode', 'reject', '--reason', 'incident');
    const back = await done(shop, 'release', 'rollback', '--yes');
    await untilReady(url);
    assert.match(
      back,
      /^ingress stays paused, as an operator has set it \(reject, incident\): svc ingress resume opens it$/m,
    );
    assert.deepEqual(await ingress(shop), ['paused', 'reject', 'incident']);
    await done(shop, 'ingress', 'resume');

    assert.equal(git('rev-parse', 'HEAD'), commits.a);
    assert.equal(git('status', '--porcelain'), '?? notes.txt');
    assert.equal(project.read('notes.txt'), 'of an operator');
    assert.match(project.read('book.mjs'), /'A '/);
    assert.equal(await shop.deliver('m2'), 200);
    assert.equal(await shop.deliver('m4'), 200);
    await until(() => handled(shop).includes('A m4'), { what: 'a message after the rollback' });
    assert.deepEqual(handled(shop), ['A m1', 'B m2', 'B m3', 'A m4']);
    const { state, steps, before, results, verdict } = record(shop) ?? {};
    assert.equal(state, 'rolled_back');
    assert.deepEqual(
      steps?.map(({ state: of }) => of),
      ['begun', 'checked', 'started', 'accepted', 'observing', 'rolled_back'],
    );
    assert.equal(before?.commit, commits.a);
    assert.deepEqual(Object.keys(results ?? {}).sort(), [
      'build',
      'doctor',
      'install',
      'migrate',
      'once',
      'start',
      'test',
    ]);
    assert.equal(verdict?.verdict, 'unclear');
    const acceptance = JSON.parse(project.read('.svc/releases/r1/acceptance.json')) as Acceptance;
    assert.deepEqual(
      acceptance.rows.map(({ answer }) => answer),
      ['yes', 'yes', 'yes', 'yes', 'yes', 'yes'],
    );
    assert.equal(acceptance.facts.release?.commit, commits.b);
    assert.deepEqual(readdirSync(join(project.path, '.svc/releases/r1')).sort(), [
      'acceptance.json',
      'check.log',
      'record.json',
    ]);
  });

  it('leaves a version that does not get ready where it shall stay, else takes it back by itself, and loses nothing', async (t) => {
    const broken = plugin('B', "if (process.argv.every((word) => word !== '--once')) throw new Error('not today');");
    const shop = await releasedProject(t, { b: broken, readySeconds: 60 });
    const { project, url, commits, git } = shop;
    await done(shop, 'runtime', 'start', '--daemon', '--timeout', '120');
    await done(shop, 'release', 'begin', '--to', commits.b);
    await done(shop, 'release', 'check');
    await putJob(shop, 'tea');

    const stays = await shop.svc('release', 'start', '--stay');
    assert.equal(stays.code, 1);
    assert.match(stays.stderr, /the new version did not get ready: /);
    // A slow machine may still be loading it when the time is up.
    await until(() => project.read('.svc/runtime.log').includes('not today'), { what: 'the reason' });
    assert.match(stays.stderr, /svc release start tries again, svc release rollback goes back/);
    assert.equal(record(shop)?.state, 'checked');
    assert.match(project.read('book.mjs'), /'B '/);

    const { code, stdout, stderr } = await shop.svc('release', 'start');
    assert.equal(code, 1);
    assert.match(project.read('book.mjs'), /'A '/);
    assert.match(stderr, /r1 was rolled back: the new version did not get ready/);
    assert.match(stdout, /^taken back with the version: .*1 job changed; it lies in \.svc\/replaced\/s1$/m);
    assert.equal(record(shop)?.rollback?.lost?.jobs, 1);
    await untilReady(url);

    assert.equal(await shop.deliver('m1'), 200);
    await until(() => handled(shop).length === 1, { what: 'the message' });
    assert.deepEqual(handled(shop), ['A m1']);
    assert.equal(git('rev-parse', 'HEAD'), commits.a);
    assert.equal(record(shop)?.state, 'rolled_back');
  });

  it('leaves the project whole where the exchange is refused, and the pause of an operator as it was', async (t) => {
    const shop = await releasedProject(t, { b: plugin('B') });
    const { commits, project } = shop;
    await done(shop, 'runtime', 'start', '--daemon', '--timeout', '120');
    const pause = ['ingress', 'pause', '--mode', 'reject', '--reason', 'disk swap'];
    await done(shop, ...pause, '--for', '2h');
    shop.git('checkout', '-q', commits.b); // the host runs A
    const other = await shop.svc('release', 'begin', '--to', commits.b);
    assert.equal(other.code, 1);
    assert.doesNotMatch(other.stdout, /ingress is paused/);
    assert.match(other.stderr, /the host runs with another configuration or code than the files of the project say/);
    shop.git('checkout', '-q', commits.a);
    const ending = await shop.svc('release', 'begin', '--to', commits.b);
    assert.equal(ending.code, 1);
    assert.match(ending.stderr, /ingress is paused until \S+, and would open in the middle of the release/);
    await done(shop, ...pause);
    await done(shop, 'release', 'begin', '--to', commits.b);
    await done(shop, 'release', 'check');
    rmSync(join(project.path, '.svc/releases/r1/next/package.json'));
    mkdirSync(join(project.path, '.svc/releases/r1/previous'));

    const refused = await shop.svc('release', 'start');
    await done(shop, 'release', 'rollback');

    assert.equal(refused.code, 1);
    assert.match(project.read('book.mjs'), /'A '/);
    assert.equal(existsSync(join(project.path, 'node_modules/svc')), true);
    assert.deepEqual(await ingress(shop), ['paused', 'reject', 'disk swap']);
  });

  it('refuses older code alone, a second release, and a tree whose check fails', async (t) => {
    const shop = await releasedProject(t, { b: plugin('B', "throw new Error('never');") });
    const { commits, project } = shop;
    await done(shop, 'runtime', 'start', '--daemon', '--timeout', '120');
    await done(shop, 'release', 'begin', '--to', commits.b);
    const second = await shop.svc('release', 'begin', '--to', commits.b);
    const failed = await shop.svc('release', 'check');
    const skipped = await shop.svc('release', 'start');

    assert.match(second.stderr, /release r1 is begun/);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /once of the new code failed/);
    assert.match(readFileSync(join(project.path, '.svc/releases/r1/check.log'), 'utf8'), /npm ci/);
    assert.match(skipped.stderr, /r1 is begun: start comes after checked/);
    await done(shop, 'release', 'rollback');
    assert.deepEqual(await ingress(shop), ['open', 'park', null]);
    shop.git('checkout', '-q', commits.b);
    project.write('book.mjs', 'edited');
    const edited = await shop.svc('release', 'begin', '--to', commits.a);
    shop.git('checkout', '-q', '--', 'book.mjs');
    const older = await shop.svc('release', 'begin', '--to', commits.a);
    assert.equal(edited.code, 1);
    assert.match(older.stderr, /is older than the commit that runs/);
  });
});
