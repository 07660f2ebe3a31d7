// A checkpoint of a Workroom that keeps its journal in files: whole lines up to the barrier, while commands go on.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { checkpointFolder } from '../../../shared/recovery/layout.ts';
import { readManifest } from '../../../shared/recovery/manifest.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { verifyCheckpoint } from '../../../worker/recovery/verify/verify-checkpoint.ts';
import { assembleOnce } from '../../../worker/task.ts';
import { HTTP, running } from '../../support/hosts/app-host.ts';
import { until } from '../../support/until.ts';

it('holds each event of the journal once, in a file or in the spool, and can be rehearsed', async (t) => {
  const config = { host: { name: 'team', kind: 'workroom' }, http: HTTP, plugins: { sandbox: {}, work: {} } };
  const host = await running(t, { config: { ...config, workroom: { store: 'file' } } });
  const { project } = host;
  const command = (body: object) => host.call('POST', '/api/workroom/commands', body);
  const add = () => command({ kind: 'new', board: 'web', title: 'One' });
  assert.equal((await command({ kind: 'board.add', board: 'web', name: 'Web site' })).status, 200);
  const over = new AbortController();
  const load = (async () => {
    while (!over.signal.aborted) assert.equal((await add()).status, 200);
  })();

  assert.equal((await host.call('POST', '/api/checkpoints', {})).status, 202);
  const listed = async () => (await host.call('GET', '/api/checkpoints')).json;
  await until(async () => (await listed())['running'] === null, { what: 'the end of the checkpoint' });
  over.abort();
  await load;
  await add();

  assert.equal((await listed())['failure'], null, JSON.stringify(await listed()));
  const folder = checkpointFolder(project.path, 'c1');
  const { journal } = readManifest(folder);
  assert.equal(journal?.store, 'file');
  const lines = readdirSync(join(folder, 'journal')).flatMap((name) =>
    readFileSync(join(folder, 'journal', name), 'utf8')
      .split('\n')
      .slice(1, -1),
  );
  const filed = lines.map((line) => Number((JSON.parse(line.replace(/^\S+ \S+ /, '')) as { seq: number }).seq));
  const database = new Sqlite(join(folder, 'data.sqlite'), { readonly: true });
  const spooled = database.prepare('SELECT seq FROM workroom_spool').pluck().all() as number[];
  database.close();
  const all = [...new Set([...filed, ...spooled])].toSorted((a, b) => a - b);
  assert.deepEqual(
    all,
    Array.from({ length: journal.seq }, (_, index) => index + 1),
  );
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('.held')),
    [],
  );
  const once = (of: { readonly project: string; readonly environment: Readonly<Record<string, string | undefined>> }) =>
    assembleOnce({ ...of, mode: 'test' });
  const verify = () => verifyCheckpoint({ project: project.path, environment: project.env, name: 'c1' }, { once });

  assert.deepEqual((await verify()).faults, []);
  const segment = join(folder, 'journal', readdirSync(join(folder, 'journal'))[0] ?? '');
  writeFileSync(segment, readFileSync(segment, 'utf8').replace('web-1', 'web-9'));
  assert.equal((await verify()).ok, false);
});
