// Settings of the Workroom that a reload changes: items that nobody touches follow them too.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';
import { until } from '../../support/until.ts';
import { HOUR_MS, withFile } from '../../support/workroom/room.ts';

const CONFIG = { host: { name: 'team', kind: 'workroom' }, http: HTTP, plugins: {} } as const;

/** Hours from the creation of the item to the look of the host. */
function hours({ project }: Running): number {
  return withFile(project.paths.database, (database) => {
    const at = database.prepare("SELECT at FROM due WHERE id = 'workroom/web-1'").pluck().get();
    const made = database.prepare("SELECT updated_at FROM workroom_catalog WHERE stream = 'item/web-1'").pluck().get();
    return (Number(at) - Number(made)) / HOUR_MS;
  });
}

describe('settings of the Workroom', () => {
  it('hold for items that are there already, after a reload and after a start', async (t) => {
    const host = await running(t, { config: CONFIG });
    for (const command of [
      { kind: 'board.add', board: 'web', name: 'Web site' },
      { kind: 'new', board: 'web', title: 'Home page' },
    ])
      assert.equal((await host.call('POST', '/api/workroom/commands', command)).status, 200);
    assert.equal(hours(host), 72);
    host.configure({ ...CONFIG, workroom: { stuckHours: 5 } });
    await host.app.reload('test', { orRestart: false });
    await until(() => hours(host) === 5, { what: 'the look after five hours' });
    await host.app.stop(2_000);
    host.configure({ ...CONFIG, workroom: { stuckHours: 3 } });
    const next = await running(t, { project: host.project });

    await until(() => hours(next) === 3, { what: 'the look after three hours' });
  });
});
