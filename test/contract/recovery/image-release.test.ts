// A release whose code is an image: each step is refused in a container of another one, and a rollback that was cut takes the data back once.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { identify } from '../../../shared/process/process-identity.ts';
import {
  openRelease,
  type ReleaseRecord,
  type ReleaseState,
  readRelease,
  releaseFolder,
  writeRelease,
} from '../../../shared/recovery/release-record.ts';
import { readSwitch } from '../../../shared/recovery/switch.ts';
import { commands } from '../../../supervisor/cli/commands/release.ts';
import { lockfileOf } from '../../../supervisor/cli/release/tree.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { rowsOf, withDatabase } from '../../support/recovery/changed-rows.ts';
import { releaseRecord } from '../../support/recovery/release-record.ts';
import { type StoppedProject, stoppedProject } from '../../support/recovery/stopped-project.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const [OLD, NEW, OTHER] = ['a', 'b', 'c'].map((letter) => letter.repeat(40));
const VERSION = { configVersion: null, svc: null, schema: null };

type Images = { readonly path: string; readonly env: Readonly<Record<string, string>> };

/** Runs a step of the release in a container of the image of this commit: all images have the same packages. */
async function run({ path, env }: Images, commit: string | undefined, verb: string, options = {}) {
  const captured = capturedContext('');
  const command = commands.find((one) => one.verb === verb) ?? assert.fail(verb);
  const context = {
    ...captured,
    env: { PATH: process.env['PATH'], ...env, PROJECT_COMMIT: commit, PROJECT_IMAGE: `shop:${commit?.[0]}` },
    project: () => path,
  };
  const code = await command.run(context, [], options);
  return { code, out: captured.out };
}

const versionOf = ({ path }: Images, commit: string | undefined) => ({
  ...VERSION,
  commit: commit ?? null,
  lockfile: lockfileOf(path),
  image: `shop:${commit?.[0]}`,
});

function begin(of: Images, steps: readonly ReleaseState[], name = 'r1'): ReleaseRecord {
  const record = releaseRecord({
    name,
    steps,
    begunAt: Date.now() - 3_600_000,
    source: { kind: 'image', value: 'a new image' },
    before: versionOf(of, OLD),
    after: versionOf(of, NEW),
    owner: 'image',
    wasPaused: true,
  });
  writeRelease(of.path, record);
  return record;
}

describe('a step of a release of an image', () => {
  it('is refused in another image, which is named with the one that it belongs in', async (t) => {
    const project = temporaryProject(t);
    const refused = async (steps: readonly ReleaseState[], commit: string | undefined, verb: string) => {
      begin(project, steps);
      return run(project, commit, verb, { yes: true }).then(
        () => 'done',
        ({ code, message, hint }) => `${code}: ${message}; ${hint}`,
      );
    };

    const check = await refused(['begun'], OLD, 'check');
    const start = await refused(['begun', 'checked'], OLD, 'start');
    const third = await refused(['begun', 'checked'], OTHER, 'start');
    const back = await refused(['begun', 'checked', 'started'], NEW, 'rollback');

    assert.match(check, /^refused: this is not the new image: shop:a \(commit a{12}, lockfile \w{12}\) is the one/);
    assert.match(start, /^refused: this is not the image that was checked: .* start shop:b \(commit b{12}/);
    assert.match(third, /^refused: this is not the image that was checked: it is shop:c/);
    assert.match(back, /^refused: this is not the image of before .*shop:b.* once in a container of shop:a \(commit/);
    assert.equal(openRelease(project.path)?.state, 'started');
  });

  it('takes no image that a finished release has replaced', async (t) => {
    const project = temporaryProject(t);
    begin(project, ['begun', 'observing', 'finished']);
    begin(project, ['begun'], 'r2');
    writeRelease(project.path, { ...readRelease(project.path, 'r2'), before: versionOf(project, NEW), after: null });

    await assert.rejects(run(project, OLD, 'check'), {
      code: 'downgrade_alone',
      message: /^shop:a .* is what release r1 replaced$/,
    });
    assert.equal(openRelease(project.path)?.state, 'begun');
  });
});

/** A release whose window has begun: `then` is in the restore point, `now` came since. */
async function observed(t: TestContext): Promise<StoppedProject> {
  const project = stoppedProject(t);
  project.store({ fact: 'then' });
  await project.make();
  project.store({ fact: 'now' });
  project.write('data/schedule-jobs.json', '{"version":1,"revision":9,"jobs":[]}');
  begin(project, ['begun', 'checked', 'started', 'accepted', 'observing']);
  return project;
}

function factIn({ paths }: StoppedProject): unknown {
  const [[fact]] = rowsOf(paths.database, "SELECT value FROM meta WHERE key = 'fact'") as [[unknown]];
  return fact;
}

describe('a rollback of an image', () => {
  it('that was cut behind its switch takes nothing back a second time', async (t) => {
    const project = await observed(t);
    const open = openRelease(project.path) ?? assert.fail();
    const first = await run(project, OLD, 'rollback', { yes: true });
    const done = readRelease(project.path, 'r1');
    const fact = factIn(project);
    // As the kill leaves it: the record is the one that was written before the switch.
    writeRelease(project.path, { ...open, rollback: done.rollback ?? assert.fail() });
    project.store({ fact: 'of the host of before' });

    const status = await run(project, OLD, 'status');
    const finish = await run(project, OLD, 'finish', { unclear: true }).catch((error) => error);
    const second = await run(project, OLD, 'rollback');

    const { state, rollback } = readRelease(project.path, 'r1');
    assert.deepEqual([first.code, fact, second.code, state], [0, 'then', 0, 'rolled_back']);
    assert.equal(factIn(project), 'of the host of before');
    assert.deepEqual(readdirSync(project.paths.replacedDir), ['s1']);
    assert.deepEqual([rollback?.replaced, rollback?.lost?.jobs], ['s1', 1]);
    assert.deepEqual(rollback, done.rollback);
    assert.match(status.out.join('\n'), /observing[^]*1 job changed[^]*next: svc release rollback/);
    assert.match(finish.message, /r1 is being rolled back/);
    assert.match(second.out.join('\n'), /^start shop:a \(commit a{12}, lockfile \w{12}\); ingress is paused until/m);
  });

  it('that was cut in its switch goes on with it, and other steps name the rollback', async (t) => {
    const project = await observed(t);
    const env = { ...project.env, SVC_FAILPOINTS: 'restore.decided=error' };
    await assert.rejects(run({ ...project, env }, OLD, 'rollback', { yes: true }));

    const { purpose, names } = readSwitch(project.path) ?? assert.fail('nothing was decided');
    await assert.rejects(run(project, OLD, 'finish', { unclear: true }), {
      code: 'switch_pending',
      hint: 'svc release rollback finishes it',
    });
    const second = await run(project, OLD, 'rollback');

    assert.deepEqual([purpose, names], ['rollback', { source: 'c1', replaced: 's1', release: 'r1' }]);
    assert.equal(second.code, 0);
    assert.deepEqual([readRelease(project.path, 'r1').state, factIn(project)], ['rolled_back', 'then']);
    assert.deepEqual(readdirSync(project.paths.replacedDir), ['s1']);
  });

  it('that was cut before its switch takes them back, under the name of its own replaced state', async (t) => {
    const project = await observed(t);
    const open = openRelease(project.path) ?? assert.fail();
    const noted = { replaced: 's7', lost: null, unreadable: null };
    writeRelease(project.path, { ...open, rollback: noted });

    const status = await run(project, OLD, 'status');
    await run(project, OLD, 'rollback', { yes: true });

    assert.equal(factIn(project), 'then');
    assert.doesNotMatch(status.out.join('\n'), /taken back/);
    assert.equal(readRelease(project.path, 'r1').rollback?.replaced, 's1');
  });

  it('takes them back once more where an operator has undone it', async (t) => {
    const project = await observed(t);
    const open = openRelease(project.path) ?? assert.fail();
    await run(project, OLD, 'rollback', { yes: true });
    writeRelease(project.path, { ...open, rollback: readRelease(project.path, 'r1').rollback ?? assert.fail() });
    withDatabase(project.paths.database, (database) =>
      database.exec("INSERT INTO restores VALUES ('s9', 1, 'undo', 's1', 'id', 0, 0, 1)"),
    );
    project.store({ fact: 'now' });

    await run(project, OLD, 'rollback', { yes: true });

    assert.equal(factIn(project), 'then');
  });
});

describe('the pause of an operator over a rollback of an image', () => {
  const INCIDENT = { state: 'paused', mode: 'reject', reason: 'incident', until: null, since: null, by: 'full' };
  const ingressIn = ({ paths }: StoppedProject): unknown => {
    const [[text]] = rowsOf(paths.database, "SELECT value FROM meta WHERE key = 'ingress'") as [[string]];
    const { state, mode, reason } = JSON.parse(text);
    return [state, mode, reason];
  };

  it('made since it began, stays with its mode and its reason, also over a kill behind the switch', async (t) => {
    const project = await observed(t);
    const open = openRelease(project.path) ?? assert.fail();
    project.store({ ingress: JSON.stringify(INCIDENT) });

    const first = await run(project, OLD, 'rollback', { yes: true });
    const kept = ingressIn(project);
    const { rollback, operatorPause } = readRelease(project.path, 'r1');
    // As the kill leaves it: the record of before the switch, and data that their restore has paused.
    writeRelease(project.path, {
      ...open,
      rollback: rollback ?? assert.fail(),
      operatorPause: operatorPause ?? assert.fail(),
    });
    project.store({ ingress: JSON.stringify({ ...INCIDENT, mode: 'park', reason: 'restore of c1', by: 'restore' }) });
    await run(project, OLD, 'rollback');

    assert.deepEqual(kept, ['paused', 'reject', 'incident']);
    assert.deepEqual(operatorPause, { mode: 'reject', reason: 'incident', until: null });
    assert.match(
      first.out.join('\n'),
      /^start shop:a .*; ingress is paused, as an operator has set it \(reject, incident\), until: svc ingress resume$/m,
    );
    assert.deepEqual(ingressIn(project), ['paused', 'reject', 'incident']);
  });

  it('stays where nothing is taken back, and the release says how to open', async (t) => {
    const project = await observed(t);
    begin(project, ['begun']);
    hostOf(t, project);
    project.store({ ingress: JSON.stringify(INCIDENT) });

    const { out } = await run(project, OLD, 'rollback');

    assert.deepEqual(ingressIn(project), ['paused', 'reject', 'incident']);
    assert.match(
      out.join('\n'),
      /^ingress stays paused, as an operator has set it \(reject, incident\): svc ingress resume opens it$/m,
    );
  });

  it('that is over is none: ingress is opened', async (t) => {
    const project = await observed(t);
    begin(project, ['begun']);
    hostOf(t, project);
    project.store({ ingress: JSON.stringify({ ...INCIDENT, until: '2026-01-01T00:00:00.000Z' }) });

    await run(project, OLD, 'rollback');

    assert.deepEqual(ingressIn(project), ['open', 'park', null]);
  });
});

describe('a rollback of an image whose start no step has noted', () => {
  for (const state of ['begun', 'checked'] as const)
    it(`takes the data back from ${state}, unless the host of before serves`, async (t) => {
      const roll = async (hostOfBefore: boolean) => {
        const project = await observed(t);
        begin(project, state === 'begun' ? ['begun'] : ['begun', 'checked']);
        if (hostOfBefore) hostOf(t, project);
        await run(project, OLD, 'rollback');
        return [factIn(project), openRelease(project.path)];
      };

      assert.deepEqual(await roll(false), ['then', undefined]);
      assert.deepEqual(await roll(true), ['now', undefined]);
    });
});

/** The record of a worker, and a process that it names. */
function hostOf(t: TestContext, { path, paths }: StoppedProject): void {
  const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    cwd: path,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  t.after(() => child.kill());
  const identity = identify(child.pid ?? assert.fail()) ?? assert.fail();
  const worker = {
    version: 1,
    runtimeId: 'r',
    owner: 'container',
    mode: 'production',
    startedAt: new Date().toISOString(),
  };
  writeFileSync(paths.workerRecord, JSON.stringify({ ...identity, ...worker }));
}

describe('a rollback of code that was cut behind its switch', () => {
  it('is gone on with by a rollback alone', async (t) => {
    const { path, env } = temporaryProject(t);
    const tree = (name: string): string => join(releaseFolder(path, 'r1'), name);
    mkdirSync(tree('failed'), { recursive: true });
    writeRelease(path, releaseRecord({ steps: ['begun', 'checked', 'started'], begunAt: 0 }));

    for (const verb of ['check', 'start', 'accept', 'observe', 'finish'])
      await assert.rejects(run({ path, env }, OLD, verb), {
        code: 'refused',
        message: /r1 is being rolled back/,
        hint: /svc release rollback/,
      });
    assert.match((await run({ path, env }, OLD, 'status')).out.join('\n'), /next: svc release rollback$/);
    assert.equal(existsSync(tree('failed')), true);
  });
});
