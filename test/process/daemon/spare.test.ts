// What a supervisor says of its spare worker, over one that takes its time.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { overWorkers } from '../../support/process/fixture-workers.ts';
import { until } from '../../support/until.ts';

const supervise = overWorkers(['prepares-on-demand']);

describe('a spare worker that makes itself ready', () => {
  it('is loading until it has told that it is', async (t) => {
    const run = supervise(t, 'prepares-on-demand', { settings: { standby: true } });
    await until(() => existsSync(join(run.project.path, 'preparing')), { what: 'a spare' });

    assert.equal((await run.status()).standby, 'loading');
    assert.doesNotMatch(run.log(), /spare worker ready/);
    run.project.write('prepared', '');

    await until(async () => (await run.status()).standby === 'ready', { what: 'its word' });
    assert.match(run.log(), /spare worker ready/);
  });
});
