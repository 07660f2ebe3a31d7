// The open release of a running host: judged each minute of its window, told by events, shown over HTTP. The clock is moved by the test.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  type ReleaseRecord,
  type ReleaseState,
  readRelease,
  releaseFolder,
  writeRelease,
} from '../../../shared/recovery/release-record.ts';
import type { Core } from '../../../worker/core/core.ts';
import { sql } from '../../../worker/database/statement.ts';
import type { Statement } from '../../../worker/database/unit.ts';
import { ReleasesHost } from '../../../worker/host/recovery/releases.ts';
import { HTTP, running } from '../../support/hosts/app-host.ts';
import { releaseRecord } from '../../support/recovery/release-record.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';
import { openRoom } from '../../support/workroom/room.ts';

const MINUTE_MS = 60_000;
const DEMO = 'demo-token-0123456789abcdef';
const TO_STARTED = ['begun', 'checked', 'started'] as const;
const TO_OBSERVING = [...TO_STARTED, 'accepted', 'observing'] as const;

async function watched(t: Cleanup) {
  const { core: plain, clock } = await openRoom(t);
  const { path } = temporaryProject(t);
  const logged: string[] = [];
  const log = { ...plain.log, warn: (_: object, text: string) => void logged.push(text) };
  const error = (_: object, text: string): void => void logged.push(text);
  const core = { ...plain, log: { ...log, error } } as Core;
  const begunAt = clock.now();
  const hosts: ReleasesHost[] = [];
  const started = (of: Core = core): ReleasesHost => {
    const host = new ReleasesHost({ core: of, project: path, required: () => [] });
    hosts.push(host);
    host.start();
    return host;
  };
  t.after(async () => void (await Promise.all(hosts.map((host) => host.stop()))));
  return {
    core,
    logged,
    started,
    path,
    release: (steps: readonly ReleaseState[], more: Partial<Omit<ReleaseRecord, 'steps'>> = {}): void =>
      writeRelease(path, releaseRecord({ steps, begunAt, ...more })),
    stored: () => readRelease(path, 'r1'),
    /** A minute later, once the host has looked. */
    async minute(): Promise<void> {
      clock.moveTo(clock.now() + MINUTE_MS);
      await until(() => (clock.next() ?? 0) > clock.now(), { what: 'the host to have looked' });
    },
    async commit(...statements: readonly Statement[]): Promise<void> {
      assert.equal((await core.writer.commit({ name: 'test', statements })).kind, 'committed');
    },
    handled: (count: number): Statement[] =>
      Array.from({ length: count }, (_, index) => ({
        sql: `INSERT INTO inbox (id, endpoint, delivery_id, weak, kind, lane, payload_version, body, sha256, bytes, received_at, state, attempts, done_at)
          VALUES (?, 'e', ?, 0, 'arrival', 'l', 1, NULL, '', 0, ?, 'done', 1, ?)`,
        parameters: [`i${index}`, `d${index}`, clock.now(), clock.now()],
      })),
    crash: (number: number): Statement => ({
      sql: `INSERT INTO starts (runtime_id, number, at, pid, owner, version, node, previous_end) VALUES (?, ?, ?, 1, 'daemon', '0', 'v', 'crashed')`,
      parameters: [`run${number}`, number, clock.now()],
    }),
    /** Events of releases, the oldest first. */
    async told(): Promise<unknown[][]> {
      const query = sql.selectFrom('event_log').select(['type', 'subject', 'actor', 'data']).orderBy('seq');
      const rows = await core.reader.all(query.where('type', 'like', 'release.%'));
      return rows.map(({ type, subject, actor, data }) => {
        const { release, signal: _, ...rest } = JSON.parse(data);
        assert.equal(release, subject);
        return [type, subject, actor, ...Object.values(rest)];
      });
    },
  };
}

const BY = 'cli:somebody';

describe('the open release of a running host', () => {
  it('is seen within a minute, and each step is told once', async (t) => {
    const { started, minute, release, told } = await watched(t);
    started();

    await minute();
    assert.deepEqual(await told(), []);
    release(['begun']);
    await minute();
    await minute();

    assert.deepEqual(await told(), [['release.changed', 'r1', BY, null, 'begun']]);
  });

  it('costs a host that never had one no read of its database', async (t) => {
    const { core, started, minute, logged } = await watched(t);
    let reads = 0;
    const counted: Core['reader'] = {
      first: (query) => ((reads += 1), core.reader.first(query)),
      all: (query) => ((reads += 1), core.reader.all(query)),
    };
    const host = started({ ...core, reader: counted });

    await minute();

    assert.deepEqual([reads, logged, await host.figures()], [0, [], undefined]);
  });

  it('tells the steps that commands did while the host was stopped', async (t) => {
    const { started, minute, release, told } = await watched(t);
    const first = started();
    release(['begun']);
    await minute();
    await first.stop();

    release(TO_STARTED);
    started();
    await minute();
    await minute();

    assert.deepEqual((await told()).slice(1), [
      ['release.changed', 'r1', BY, 'begun', 'checked'],
      ['release.changed', 'r1', BY, 'checked', 'started'],
    ]);
  });

  it('tells the whole release again in the timeline of former data, and the one after it', async (t) => {
    const { started, minute, release, told, commit } = await watched(t);
    started();
    release(['begun']);
    await minute();
    await commit({ sql: "DELETE FROM meta WHERE key = 'release'", parameters: [] });
    await commit({ sql: 'DELETE FROM event_log', parameters: [] });

    release(['begun', 'rolled_back']);
    await minute();
    release(['begun'], { name: 'r2' });
    await minute();

    assert.deepEqual(await told(), [
      ['release.changed', 'r1', BY, null, 'begun'],
      ['release.changed', 'r1', BY, 'begun', 'rolled_back'],
      ['release.changed', 'r2', BY, null, 'begun'],
    ]);
  });

  it('is judged while it is observed; record and history change only with the verdict', async (t) => {
    const { started, minute, release, told, stored, commit, handled, crash, logged } = await watched(t);
    const host = started();
    release(TO_STARTED);
    await minute();
    assert.equal(stored().verdict, null);
    for (const _ of TO_OBSERVING) await minute(); // the steps of the record lie in the past
    release(TO_OBSERVING);
    const verdicts = async (): Promise<unknown[]> =>
      (await told()).filter(([type]) => type === 'release.judged').map(([, , , verdict]) => verdict);

    await minute();
    const unclear = stored().verdict;
    await minute();
    assert.equal(unclear?.verdict, 'unclear');
    assert.deepEqual(stored().verdict, unclear);
    assert.deepEqual(await verdicts(), ['unclear']);
    const [shown] = (await host.api.list(true)).releases;
    assert.ok(Date.parse(shown?.verdict?.at ?? '') > Date.parse(unclear?.at ?? ''));

    await commit(...handled(20));
    await minute();
    await minute();
    assert.deepEqual([stored().verdict?.verdict, await verdicts()], ['good', ['unclear', 'good']]);

    await commit(crash(7), crash(8));
    await minute();
    await minute();
    assert.deepEqual(stored().verdict?.signal, '2 crashes');
    assert.deepEqual(await verdicts(), ['unclear', 'good', 'bad']);
    assert.deepEqual(logged, ['the release does badly: svc release status']);
    assert.deepEqual(await host.figures(), { state: 'observing', verdict: 'bad' });

    release([...TO_OBSERVING, 'rolled_back'], { verdict: stored().verdict });
    await minute();
    assert.deepEqual((await told()).at(-1), ['release.changed', 'r1', BY, 'observing', 'rolled_back']);
    assert.deepEqual(await host.figures(), { state: 'rolled_back', verdict: undefined });
  });

  it('keeps the step that a command did while it was judged', async (t) => {
    const { core, started, minute, release, stored } = await watched(t);
    const ended = [...TO_OBSERVING, 'finished'] as const;
    started({
      ...core,
      reader: {
        ...core.reader,
        first: (query) => core.reader.first(query),
        all: (query) => {
          release(ended);
          return core.reader.all(query);
        },
      },
    });
    release(TO_OBSERVING);

    await minute();

    assert.deepEqual([stored().state, stored().verdict], ['finished', null]);
  });

  it('whose record cannot be read is logged once, and shown with the reason', async (t) => {
    const { started, minute, release, path, logged, told } = await watched(t);
    const host = started();
    release(['begun']);
    writeFileSync(join(releaseFolder(path, 'r1'), 'record.json'), '{');

    await minute();
    await minute();

    assert.deepEqual(logged, ['the release was not judged: tried again each minute']);
    assert.equal(await host.figures(), undefined);
    const [shown] = (await host.api.list(true)).releases;
    assert.deepEqual([shown?.name, shown?.state], ['r1', null]);
    assert.match(String(shown?.fault), /record\.json: is no JSON/);
    assert.equal((await host.api.list(false)).releases[0]?.fault, 'damaged');
    release(['begun']);
    await minute();
    assert.equal((await told()).length, 1);
  });
});

describe('releases over HTTP', () => {
  it('are listed, and shown to demo scope without actors, signals, details and folders', async (t) => {
    const project = temporaryProject(t, {
      config: { http: { ...HTTP, demoToken: '$'.concat('{DEMO_TOKEN}') } },
      env: { DEMO_TOKEN: DEMO },
    });
    const host = await running(t, { project });
    assert.deepEqual((await host.call('GET', '/api/releases')).json, { releases: [] });
    assert.equal((await host.call('GET', '/api/releases/r1')).status, 404);
    const at = '2026-01-01T00:00:00.000Z';
    writeRelease(
      project.path,
      releaseRecord({
        steps: TO_OBSERVING,
        begunAt: Date.parse(at),
        results: { test: { ok: true, ms: 5, detail: '12 tests of somebody' } },
        verdict: { verdict: 'bad', signal: '2 crashes', at },
      }),
    );
    const port = host.app.address()?.port ?? 0;
    const demo = async (path: string): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${DEMO}` } });
      assert.equal(response.status, 200);
      return response.text();
    };

    const { releases } = (await host.call('GET', '/api/releases')).json as { releases: Record<string, unknown>[] };
    assert.deepEqual(releases, [
      {
        name: 'r1',
        state: 'observing',
        since: '2026-01-01T00:04:00.000Z',
        restorePoint: 'c1',
        windowUntil: null,
        verdict: { verdict: 'bad', at, signal: '2 crashes' },
        next: 'svc release finish',
        fault: null,
      },
    ]);
    const { text } = await host.call('GET', '/api/releases/r1');
    assert.match(text, /shop-next/);
    assert.match(text, /cli:somebody/);
    assert.match(text, /12 tests/);
    for (const path of ['/api/releases', '/api/releases/r1'])
      assert.doesNotMatch(await demo(path), /somebody|crashes|shop-next/, path);
    assert.match(await demo('/api/releases/r1'), /"test":\{"ok":true,"ms":5\}/);
    const metrics = (await host.call('GET', '/api/metrics')).text;
    assert.match(metrics, /svc_release_state\{[^}]*state="observing"[^}]*\} 1/);
    assert.match(metrics, /svc_release_state\{[^}]*state="begun"[^}]*\} 0/);
    assert.match(metrics, /svc_release_verdict\{[^}]*verdict="bad"[^}]*\} 1/);
  });
});
