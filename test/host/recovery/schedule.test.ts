// Checkpoints that the host makes by itself, over a clock that the test moves.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { stringify } from 'yaml';
import { loadConfig } from '../../../shared/config/load.ts';
import { newRuntimeId, type ProjectId } from '../../../shared/identifiers.ts';
import { storedCheckpoints } from '../../../shared/recovery/stored-checkpoints.ts';
import { systemClock } from '../../../shared/time/clock.ts';
import { DatabaseHost, threadRunner } from '../../../worker/database/database-host.ts';
import { loadProjectState } from '../../../worker/database/project-state.ts';
import type { NewEvent } from '../../../worker/events/event-types.ts';
import { RecoveryHost } from '../../../worker/host/recovery.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';
import { type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const BEGIN = Date.parse('2026-01-10T12:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Scheduled {
  readonly project: TemporaryProject;
  readonly clock: ManualClock;
  readonly events: readonly NewEvent[];
  readonly host: RecoveryHost;
  names(): string[];
  /** Moves the clock, and waits until the host has looked. */
  to(time: string): Promise<void>;
}

async function scheduled(t: TestContext, recovery: object = {}, first = 0): Promise<Scheduled> {
  const project = temporaryProject(t);
  project.write(
    'svc.config.yml',
    stringify({
      http: { port: 0, token: '$'.concat('{HTTP_TOKEN}') },
      recovery: { verifyDays: 0, ...recovery }, // a rehearsal ends whenever its process does
      schedule: { timezone: 'Europe/Berlin' },
    }),
  );
  const { database: file, stateDir } = project.paths;
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const writer = new DatabaseHost({
    file,
    clock: systemClock,
    makeRunner: threadRunner({ file, failpoints: undefined }),
    onState: () => {},
  });
  await writer.open();
  await loadProjectState(writer, writer.reader);
  const started = {
    sql: "INSERT INTO starts (runtime_id, number, at, pid, owner, version, node, previous_end) VALUES ('r', 1, ?, 1, 'o', 'v', 'n', 'first')",
    parameters: [first || BEGIN],
  };
  await writer.commit({ name: 'test', statements: [started] });
  const clock = new ManualClock(BEGIN);
  const events: NewEvent[] = [];
  const nothing = (): void => {};
  const host = new RecoveryHost({
    core: {
      runtimeId: newRuntimeId(),
      projectId: '' as ProjectId,
      clock,
      writer,
      reader: writer.reader,
      log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
      mask: (text) => text,
      point: nothing,
    },
    project: project.path,
    mode: 'production',
    environment: project.env,
    file,
    writer,
    loaded: () => loadConfig({ project: project.path, mode: 'production', environment: project.env }),
    changedFiles: () => [],
    secrets: () => [],
    tell: async (event) => void events.push(event),
  });
  t.after(async () => {
    await host.stop();
    await writer.close();
  });
  host.start();
  return {
    project,
    clock,
    events,
    host,
    names: () => storedCheckpoints(project.path).map(({ name }) => name),
    async to(time) {
      clock.moveTo(Date.parse(time));
      await until(() => (clock.next() ?? 0) > clock.now(), { what: 'the host to have looked' });
    },
  };
}

it('a stop gives up the checkpoint that is being made, and leaves nothing of it', async (t) => {
  const { host, project, names, events } = await scheduled(t);
  const caller = { scope: 'full', actor: 'token:full', requestId: 'r' } as const;

  const { name } = await host.api.create(caller, { reason: null });
  await host.stop();

  assert.equal(name, 'c1');
  assert.deepEqual([names(), events], [[], []]);
  assert.deepEqual(
    readdirSync(project.paths.checkpointsDir).filter((entry) => entry !== 'files'),
    [],
  );
});

describe('the schedule of checkpoints', () => {
  it('makes one at the time of day, and none before', async (t) => {
    const { to, names, events } = await scheduled(t);

    await to('2026-01-10T12:02:00Z');
    await to('2026-01-11T02:29:00Z');
    assert.deepEqual(names(), []);
    await to('2026-01-11T02:30:01Z');
    assert.deepEqual(names(), ['c1']);
    await to('2026-01-11T20:00:00Z');
    assert.deepEqual(names(), ['c1']);
    await to('2026-01-12T02:30:01Z');

    assert.deepEqual(names(), ['c2', 'c1']);
    assert.deepEqual(
      events.map(({ type, subject, actor }) => [type, subject, actor]),
      [
        ['checkpoint.created', 'c1', 'schedule'],
        ['checkpoint.created', 'c2', 'schedule'],
      ],
    );
  });

  it('makes up for one that was missed, a minute after the start', async (t) => {
    const { to, names } = await scheduled(t, {}, BEGIN - 48 * HOUR);

    assert.deepEqual(names(), []);
    await to('2026-01-10T12:01:01Z');

    assert.deepEqual(names(), ['c1']);
  });

  it('makes one though what a kill has left in the folder of copies cannot be removed', async (t) => {
    const copyTo = mkdtempSync(join(tmpdir(), 'svc-copies-'));
    t.after(() => rmSync(copyTo, { recursive: true, force: true }));
    mkdirSync(join(copyTo, 'files', 'odd.tmp'), { recursive: true });
    const { to, names, host } = await scheduled(t, { copyTo }, BEGIN - 48 * HOUR);

    await to('2026-01-10T12:01:01Z');

    assert.deepEqual(names(), ['c1']);
    assert.equal((await host.api.list(true)).failure?.code, 'storage_unavailable'); // of the copy
  });

  it('makes none with everyHours 0', async (t) => {
    const { to, names } = await scheduled(t, { everyHours: 0 }, BEGIN - 48 * HOUR);

    await to('2026-01-10T12:01:01Z');
    await to('2026-01-20T12:01:01Z');

    assert.deepEqual(names(), []);
  });

  it('removes replaced states that are too old, also where it makes no checkpoint', async (t) => {
    const { to, project } = await scheduled(t, { everyHours: 0, replacedDays: 3 });
    const folder = join(project.paths.replacedDir, 's1');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'replaced.json'), JSON.stringify({ name: 's1', at: '2026-01-10T12:00:00Z' }));

    await to('2026-01-10T12:02:00Z');
    await to('2026-01-13T11:59:00Z');
    assert.ok(existsSync(folder));
    await to('2026-01-13T13:00:00Z');

    assert.deepEqual(readdirSync(project.paths.replacedDir), []);
  });

  it('shows the age of the project while none was made, and none was rehearsed', async (t) => {
    const { to, host } = await scheduled(t, { everyHours: 0 }, BEGIN - 30 * HOUR);
    const ages = async (): Promise<unknown> => {
      const { ageSeconds, verifiedSeconds } = (await host.figures()) ?? {};
      return [ageSeconds, verifiedSeconds];
    };

    assert.deepEqual(await ages(), [108_000, 108_000]);
    await to('2026-01-10T13:00:00Z');
    assert.deepEqual(await ages(), [111_600, 111_600]);
  });

  it('removes what a kill has cut of a copy on another disk', async (t) => {
    const copyTo = mkdtempSync(join(tmpdir(), 'svc-copies-'));
    t.after(() => rmSync(copyTo, { recursive: true, force: true }));
    const { to } = await scheduled(t, { everyHours: 0, copyTo });
    mkdirSync(join(copyTo, 'c3.part', 'project'), { recursive: true });

    await to('2026-01-10T12:02:00Z');

    assert.deepEqual(readdirSync(copyTo), []);
  });

  it('tries again after an hour where one failed, and counts the failure', async (t) => {
    const { to, names, events, project, host } = await scheduled(t, { everyHours: 6 }, BEGIN - 48 * HOUR);
    project.write('notes.md', `the token is ${project.token}`);

    await to('2026-01-10T12:01:01Z');
    assert.deepEqual(
      events.map(({ type }) => type),
      ['checkpoint.failed'],
    );
    await to('2026-01-10T12:30:00Z');
    assert.equal(events.length, 1);
    project.write('notes.md', 'no token any more');
    await to('2026-01-10T13:01:02Z');

    assert.deepEqual(names(), ['c2']);
    assert.equal((await host.figures())?.failures.get('refused'), 1);
  });

  it('prunes by the configuration, and copies to another disk', async (t) => {
    const to2 = mkdtempSync(join(tmpdir(), 'svc-copies-'));
    t.after(() => rmSync(to2, { recursive: true, force: true }));
    const keep = { everyHours: 1, keepLast: 1, keepDays: 0, keepWeeks: 0, copyTo: to2 };
    const { to, names, events } = await scheduled(t, keep, BEGIN - 48 * HOUR);

    await to('2026-01-10T12:01:01Z');
    await to('2026-01-10T13:01:02Z');

    assert.deepEqual(names(), ['c2']);
    assert.deepEqual(
      events.map(({ type, subject }) => [type, subject]),
      [
        ['checkpoint.created', 'c1'],
        ['checkpoint.created', 'c2'],
        ['checkpoint.pruned', 'c1'],
      ],
    );
    assert.deepEqual(readdirSync(to2).sort(), ['c2', 'files']);
  });
});
