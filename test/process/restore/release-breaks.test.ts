// A release whose schema breaks, while messages come all the time and a client follows the events: the new version misbehaves and is rolled back.
// What was acknowledged is handled once, the record says all of it, and the client was told where its history ends.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { listReleases, type ReleaseRecord } from '../../../shared/recovery/release-record.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { openSse, type SseBlock } from '../../support/http/sse-reader.ts';
import {
  BREAKING_SCHEMA,
  handledBy,
  plugin,
  putJob,
  type ReleasedProject,
  releasedProject,
} from '../../support/process/released-project.ts';
import { until } from '../../support/until.ts';

const PAUSE_MS = 20; // fifty a second, where the machine keeps up
const SOME = 50;
const ODD = ['odd-1', 'odd-2', 'odd-3', 'odd-4', 'odd-5', 'odd-6'];
const MISBEHAVES = "if (message.text.startsWith('odd-')) throw giveUp('not known here');";

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function done(of: ReleasedProject, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await of.svc(...args);
  assert.equal(code, 0, `svc ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

interface Flow {
  readonly acknowledged: readonly string[];
  /** Waits for so many more. */
  more(count: number): Promise<void>;
  end(): Promise<void>;
}

/** Delivers one message after the other. A message that nobody acknowledged is delivered again, as platforms do. */
function delivering(shop: ReleasedProject): Flow {
  const acknowledged: string[] = [];
  const over = new AbortController();
  const run = async (): Promise<void> => {
    for (let n = 0; !over.signal.aborted; await pause(PAUSE_MS)) {
      const status = await shop.deliver(`flow-${n}`).catch(() => 0);
      if (status !== 200) continue;
      acknowledged.push(`flow-${n}`);
      n += 1;
    }
  };
  const running = run();
  return {
    acknowledged,
    more: async (count) => {
      const enough = acknowledged.length + count;
      await until(() => acknowledged.length >= enough, { what: `${count} more deliveries` });
    },
    end: async () => {
      over.abort();
      await running;
    },
  };
}

/** A client of the events that comes back with the last id that it has seen, whenever its stream ends. */
function following({ url, project }: ReleasedProject) {
  const blocks: SseBlock[] = [];
  const over = new AbortController();
  let last: string | undefined;
  const run = async (): Promise<void> => {
    for (; !over.signal.aborted; await pause(PAUSE_MS)) {
      const id = last === undefined ? {} : { 'last-event-id': last };
      const headers = { authorization: `Bearer ${project.token}`, ...id };
      const reader = await openSse(`${url}/api/events`, headers).catch(() => undefined);
      if (reader === undefined) continue;
      await until(() => reader.ended || over.signal.aborted, { what: 'the end of a stream' });
      reader.close();
      blocks.push(...reader.blocks);
      last = reader.lastId() ?? last;
    }
  };
  const running = run();
  return {
    end: async (): Promise<readonly SseBlock[]> => {
      over.abort();
      await running;
      return blocks;
    },
  };
}

/** Events that follow on none that the client has seen, and that no gap has announced. */
function holesIn(blocks: readonly SseBlock[]): readonly string[] {
  let position: string | undefined;
  const holes: string[] = [];
  for (const { id, event } of blocks) {
    if (id === undefined) continue;
    const [epoch, seq] = id.split('.');
    const isEvent = !event.startsWith('svc.');
    if (isEvent && position !== undefined && position !== `${epoch}.${Number(seq) - 1}`)
      holes.push(`${event} ${id} after ${position}`);
    position = id;
  }
  return holes;
}

/** Deliveries in the database, by how they ended. */
function storedIn({ project }: ReleasedProject): { readonly done: readonly string[]; readonly schema: number } {
  const database = new Sqlite(project.paths.database, { readonly: true });
  try {
    const rows = database.prepare("SELECT delivery_id FROM inbox WHERE state = 'done'").all() as {
      readonly delivery_id: string;
    }[];
    const { id } = database.prepare('SELECT max(id) AS id FROM migrations').get() as { readonly id: number };
    return { done: rows.map(({ delivery_id: of }) => of), schema: id };
  } finally {
    database.close();
  }
}

const recordOf = ({ project }: ReleasedProject): ReleaseRecord => listReleases(project.path).at(-1) ?? assert.fail();

describe('a release whose schema breaks', { timeout: 900_000 }, () => {
  it('misbehaves in its window and is rolled back: nothing acknowledged is lost, nothing is handled twice', async (t) => {
    const shop = await releasedProject(t, { b: plugin('B', '', MISBEHAVES), breaksSchema: true });
    const { commits, project, url } = shop;
    await done(shop, 'runtime', 'start', '--daemon', '--timeout', '120');
    const client = following(shop);
    const flow = delivering(shop);
    await flow.more(SOME);
    await done(shop, 'release', 'check', '--to', commits.b);
    const facts = [...flow.acknowledged];
    await done(shop, 'release', 'begin', '--to', commits.b);
    await putJob(shop, 'tea');
    await done(shop, 'release', 'check');
    const started = await done(shop, 'release', 'start');
    const beforeObserve = handledBy(shop).length;
    await flow.more(SOME);
    const schemaOfB = storedIn(shop).schema;
    const parked = handledBy(shop).length;
    await done(shop, 'release', 'accept', '--reason', 'a test order went through');
    await done(shop, 'release', 'observe');
    await until(() => handledBy(shop).length > facts.length + SOME, { what: 'what was parked' });
    for (const text of ODD) assert.equal(await shop.deliver(text), 200);
    const bad = await until(
      async () => {
        const ended = await shop.svc('release', 'status');
        return ended.code === 1 ? ended : undefined;
      },
      { what: 'a bad verdict' },
    );
    const back = await done(shop, 'release', 'rollback', '--yes');
    await flow.more(SOME);
    await flow.end();
    await until(() => handledBy(shop).length >= flow.acknowledged.length + ODD.length, { what: 'all to be handled' });
    const history = JSON.parse(await done(shop, 'release', 'history', '--json')) as { releases: ReleaseRecord[] };
    const told = await done(shop, 'release', 'status');
    const blocks = await client.end();

    assert.match(started, /the new version is ready, [\d.]+ s after the stop began/);
    assert.equal(schemaOfB, BREAKING_SCHEMA);
    assert.equal(parked, beforeObserve, 'all that came before observe waits');
    assert.match(bad.stdout, /^bad: 6 of \d+ ended dead or unknown/m);
    assert.match(back, /^taken back with the version: .*1 job changed; it lies in \.svc\/replaced\/s1$/m);
    assert.ok(existsSync(join(project.path, '.svc/replaced/s1/data.sqlite')));

    const texts = handledBy(shop).map((line) => line.slice(2));
    const times = new Map<string, number>();
    for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
    const wrong = [...flow.acknowledged, ...ODD].filter((id) => times.get(id) !== 1);
    assert.deepEqual(wrong, []);
    assert.ok(handledBy(shop).some((line) => line.startsWith('B flow-')) && handledBy(shop).at(-1)?.startsWith('A '));
    const stored = storedIn(shop);
    const kept = new Set(stored.done);
    assert.deepEqual(
      flow.acknowledged.filter((id) => !kept.has(id)),
      [],
    );

    const gaps = blocks.filter(({ event }) => event === 'svc.gap').map(({ data }) => data['reason']);
    assert.deepEqual(gaps, ['epoch_changed']);
    assert.deepEqual(holesIn(blocks), []);
    assert.ok(blocks.some(({ event }) => event === 'checkpoint.restored'));

    const { steps, before, after, results, verdict, rollback, source } = recordOf(shop);
    assert.deepEqual(history.releases, [recordOf(shop)]);
    assert.deepEqual(
      steps.map(({ state }) => state),
      ['begun', 'checked', 'started', 'accepted', 'observing', 'rolled_back'],
    );
    assert.ok(steps.every(({ at, actor }) => Date.parse(at) > 0 && actor.startsWith('cli')));
    assert.deepEqual([source.value, before.commit, after?.commit], [commits.b, commits.a, commits.b]);
    assert.deepEqual([before.schema, after?.schema], [stored.schema, BREAKING_SCHEMA]);
    assert.ok(before.svc !== null && before.svc === after?.svc);
    assert.ok(before.configVersion !== null && before.configVersion === after?.configVersion);
    assert.notEqual(before.lockfile, after?.lockfile);
    assert.deepEqual(Object.keys(results).toSorted(), [
      'build',
      'doctor',
      'install',
      'migrate',
      'once',
      'start',
      'test',
    ]);
    assert.ok(Object.values(results).every(({ ok }) => ok));
    assert.equal(verdict?.verdict, 'bad');
    assert.deepEqual([rollback?.replaced, rollback?.lost?.jobs, rollback?.unreadable], ['s1', 1, null]);
    assert.match(told, /^r1 rolled_back/);
    assert.ok((await fetch(`${url}/pub/ready`)).ok);
  });
});
