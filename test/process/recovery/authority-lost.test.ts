// A worker beside which another one has begun on the same state, as its lock had fallen: it takes nothing as its own to handle, says why it is not ready,
// and ends. What was delivered is handled once, by whoever begins last.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Sqlite } from '../../../shared/sqlite.ts';
import { workerLog } from '../../kits/crash/kit/worker-life.ts';
import { FaultyHost } from '../../support/hosts/faulty-host.ts';
import { until } from '../../support/until.ts';

describe('a worker whose authority to write has gone', () => {
  it('answers 503 to what it would handle, and the next start handles it', { timeout: 240_000 }, async (t) => {
    const host = await FaultyHost.start(t);
    assert.equal((await host.deliver('/echo before')).status, 200);
    await until(async () => (await host.api.count('outbox', 'sent')) === 1, { what: 'the answer' });
    const changes = takeAuthority(host);

    const refused = await host.deliver('/echo after');
    const { code } = await host.life.ended;
    host.restart();
    await host.isReady(true);
    const again = await host.redeliver();
    await until(async () => (await host.api.count('outbox', 'sent')) === 2, { what: 'the second answer' });

    assert.deepEqual([changes, refused.status, code, again], [1, 503, 0, [200]]);
    assert.match(logOf(host), /another worker writes to the state of this project/);
    assert.equal((await host.handled()).size, 2);
  });

  it('is not ready, with the reason, and ends also where nothing comes', { timeout: 240_000 }, async (t) => {
    const host = await FaultyHost.start(t);
    // As a start in its place writes it.
    const others = JSON.stringify({ ...JSON.parse(recordOf(host)), runtimeId: 'another', pid: 1 });
    writeFileSync(join(host.project.paths.stateDir, 'worker.json'), others);
    takeAuthority(host);

    const { code } = await host.life.ended;

    assert.equal(code, 0, 'whoever starts it again would take the authority back');
    assert.match(
      logOf(host),
      /"reason":"another worker writes to the state of this project".*"database is not usable"/,
    );
    assert.deepEqual(readinessOf(host), { ready: false, state: 'not_ready', unmet: ['runtime', 'database'] });
    assert.equal(recordOf(host), others);
  });
});

/** As another start does. */
function takeAuthority(host: FaultyHost): number {
  return withDatabase(host, (database) =>
    database.prepare("UPDATE counters SET value = value + 1 WHERE name = 'authority'").run(),
  ).changes;
}

/** What the first event that tells of a change to not ready says. */
const readinessOf = (host: FaultyHost): unknown =>
  withDatabase(host, (database) =>
    database.prepare("SELECT data FROM event_log WHERE type = 'ready.changed' ORDER BY seq").pluck().all(),
  )
    .map((data) => JSON.parse(String(data)) as { readonly ready: boolean })
    .find(({ ready }) => !ready);

function withDatabase<T>(host: FaultyHost, use: (database: InstanceType<typeof Sqlite>) => T): T {
  const database = new Sqlite(join(host.project.paths.stateDir, 'data.sqlite'));
  try {
    return use(database);
  } finally {
    database.close();
  }
}

const logOf = (host: FaultyHost): string => readFileSync(workerLog(host.project.path), 'utf8');
const recordOf = (host: FaultyHost): string => readFileSync(join(host.project.paths.stateDir, 'worker.json'), 'utf8');
