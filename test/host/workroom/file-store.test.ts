// A host whose journal is in files: readiness, commands, a damaged journal, another store than that of the state.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { describe, it } from 'node:test';
import { convertWorkroom } from '../../../worker/host/stored-workroom.ts';
import { verifyStored } from '../../../worker/workroom/journal/verify-stored.ts';
import { HTTP, type Running, running, starting } from '../../support/hosts/app-host.ts';

const configOf = (store: string) =>
  ({
    host: { name: 'team', kind: 'workroom' },
    http: HTTP,
    plugins: { sandbox: {}, work: {} },
    workroom: { store },
  }) as const;

const board = { kind: 'board.add', board: 'web', name: 'Web site' };

async function journalCheck(host: Running): Promise<Record<string, unknown> | undefined> {
  const { json } = await host.call('GET', '/api/system/readiness');
  return (json['checks'] as Record<string, unknown>[]).find(({ component }) => component === 'workroom');
}

describe('a Workroom with its journal in files', () => {
  it('is ready with its journal, answers, shows its events, and stops with files that verify', async (t) => {
    const host = await running(t, { config: configOf('file') });
    assert.equal((await journalCheck(host))?.['ready'], true);
    assert.equal((await host.call('POST', '/api/workroom/commands', board)).status, 200);
    assert.equal(
      (await host.call('POST', '/api/workroom/commands', { kind: 'new', board: 'web', title: 'One' })).status,
      200,
    );
    assert.equal((await host.call('GET', '/api/workroom')).json['store'], 'file');
    const { json } = await host.call('GET', '/api/workroom/events?stream=item/web-1');
    assert.deepEqual(
      (json['events'] as Record<string, unknown>[]).map(({ seq, kind }) => [seq, kind]),
      [[2, 'item.created']],
    );
    const { json: proof } = await host.call('POST', '/api/workroom/verify', {});
    assert.deepEqual(proof['faults'], []);
    await host.app.stop(5_000);
    const { path: project, paths, env: environment } = host.project;
    const { head, faults } = await verifyStored({ project, environment });
    assert.deepEqual([head.seq, faults], [2, []]);
    const catalog = JSON.parse(readFileSync(paths.workroomCatalog, 'utf8')) as { appliedSeq: number; items: object };
    assert.deepEqual([catalog.appliedSeq, Object.keys(catalog.items)], [2, ['web-1']]);
  });

  it('takes no command and is not ready where its files are gone', async (t) => {
    const host = await running(t, { config: configOf('file') });
    assert.equal((await host.call('POST', '/api/workroom/commands', board)).status, 200);
    await host.app.stop(5_000);
    rmSync(host.project.paths.workroomJournal, { recursive: true });
    const again = await running(t, { project: host.project });
    const check = await journalCheck(again);
    assert.equal(check?.['ready'], false);
    assert.match(String(check?.['reason']), /are gone/);
    const { status, json } = await again.call('POST', '/api/workroom/commands', {
      kind: 'new',
      board: 'web',
      title: 'One',
    });
    assert.equal(status, 503);
    assert.equal(json['code'], 'journal_damaged');
    assert.equal((await again.call('GET', '/api/workroom/boards')).status, 200);
  });

  for (const [from, to] of [
    ['database', 'file'],
    ['file', 'database'],
  ] as const)
    it(`does not start with ${to} over a journal in the ${from}, and names the command that moves it`, async (t) => {
      const host = await running(t, { config: configOf(from) });
      assert.equal((await host.call('POST', '/api/workroom/commands', board)).status, 200);
      await host.app.stop(5_000);
      host.configure(configOf(to));
      const { app } = starting(t, { project: host.project });
      await assert.rejects(app.up, {
        code: 'config_invalid',
        hint: new RegExp(`svc workroom convert --to ${to}`),
      });
      await app.stop(5_000);
      const { path: project, env: environment } = host.project;
      const { head, hasMoved } = await convertWorkroom({ project, environment, to });
      assert.deepEqual([head.seq, hasMoved], [1, true]);
      assert.equal(existsSync(`${host.project.paths.database}-shm`), false);
      const moved = await running(t, { project: host.project });
      const { json } = await moved.call('GET', '/api/workroom');
      assert.deepEqual([json['store'], json['head']], [to, head]);
      assert.equal(
        (await moved.call('POST', '/api/workroom/commands', { kind: 'new', board: 'web', title: 'One' })).status,
        200,
      );
    });
});
