// A Workroom that keeps its journal in files, restored: database and files are of one moment, and the board goes on from there.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { makeStopped } from '../../../worker/recovery/checkpoint/make-stopped.ts';
import { readRestorePlan, restore } from '../../../worker/recovery/restore/restore.ts';
import { verifyWorkroom } from '../../../worker/task.ts';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';

for (const store of ['file', 'database'])
  it(`brings back the journal of a Workroom with store ${store}, which then takes events`, async (t) => {
    const config = { host: { name: 'team', kind: 'workroom' }, http: HTTP, plugins: { sandbox: {}, work: {} } };
    const options = { config: { ...config, workroom: { store } } };
    const host = await running(t, options);
    const { path: project } = host.project;
    const command = (on: Running, body: object) => on.call('POST', '/api/workroom/commands', body);
    const headOf = async (on: Running) => ((await on.call('GET', '/api/workroom')).json['head'] as { seq: number }).seq;
    await command(host, { kind: 'board.add', board: 'web', name: 'Web site' });
    await command(host, { kind: 'new', board: 'web', title: 'One' });
    const kept = await headOf(host);
    await host.app.stop(5_000);
    const environment = host.project.env;
    await makeStopped({ project, environment, reason: null });
    const later = await running(t, { project: host.project });
    await command(later, { kind: 'new', board: 'web', title: 'Two' });
    const lost = await headOf(later);
    await later.app.stop(5_000);

    const request = { project, environment, name: 'c1', carry: true, open: undefined };
    const plan = readRestorePlan(request);
    await restore({ ...request, digest: plan.digest });
    const restored = await running(t, { project: host.project });
    const head = await headOf(restored);
    const added = await command(restored, { kind: 'new', board: 'web', title: 'Three' });
    await restored.app.stop(5_000);

    assert.deepEqual(plan.lost?.journal, { from: kept + 1, to: lost });
    assert.deepEqual([head, added.status], [kept, 200]);
    assert.deepEqual((await verifyWorkroom({ project, environment })).faults, []);
  });
