// A worker beside which another one has begun on the same state, as its lock had fallen: it takes nothing as its own to handle, and what was delivered is
// handled once, by whoever begins last.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Sqlite } from '../../shared/sqlite.ts';
import { workerLog } from '../crash/kit/worker-life.ts';
import { FaultyHost } from '../support/faulty-host.ts';
import { until } from '../support/until.ts';

describe('a worker whose authority to write has gone', () => {
  it('answers 503 to what it would handle, and the next start handles it', { timeout: 240_000 }, async (t) => {
    const host = await FaultyHost.start(t);
    assert.equal((await host.deliver('/echo before')).status, 200);
    await until(async () => (await host.api.count('outbox', 'sent')) === 1, { what: 'the answer' });
    const other = new Sqlite(join(host.project.paths.stateDir, 'data.sqlite'));
    const { changes } = other.prepare("UPDATE counters SET value = value + 1 WHERE name = 'authority'").run();
    other.close();

    const refused = await host.deliver('/echo after');
    await host.life.kill();
    host.restart();
    await host.isReady(true);
    const again = await host.redeliver();
    await until(async () => (await host.api.count('outbox', 'sent')) === 2, { what: 'the second answer' });

    assert.deepEqual([changes, refused.status, again], [1, 503, [200]]);
    assert.match(
      readFileSync(workerLog(host.project.path), 'utf8'),
      /another worker writes to the state of this project/,
    );
    assert.equal((await host.handled()).size, 2);
  });
});
