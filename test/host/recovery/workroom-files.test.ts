// Checkpoints of a Workroom that keeps its journal in files, while commands go on and jobs are changed: whole lines up to the barrier, and journal,
// jobs and events of each stand at one position.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { checkpointFolder } from '../../../shared/recovery/layout.ts';
import { readManifest } from '../../../shared/recovery/manifest.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { verifyCheckpoint } from '../../../worker/recovery/verify/verify-checkpoint.ts';
import { assembleOnce } from '../../../worker/task.ts';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';
import { until } from '../../support/until.ts';

const CHECKPOINTS = Number(process.env['SVC_RECOVERY_MOMENTS'] ?? 1);
const LANES = 8;

it('hold each event of the journal once, in a file or in the spool, and can be rehearsed', async (t) => {
  const config = { host: { name: 'team', kind: 'workroom' }, http: HTTP, plugins: { sandbox: {}, work: {} } };
  const recovery = { keepLast: CHECKPOINTS };
  const host = await running(t, { config: { ...config, recovery, workroom: { store: 'file' } } });
  const { project } = host;
  assert.equal((await command(host, { kind: 'board.add', board: 'web', name: 'Web site' })).status, 200);
  const stop = load(host);
  const listed = async () => (await host.call('GET', '/api/checkpoints')).json;

  for (let n = 1; n <= CHECKPOINTS; n += 1) {
    assert.equal((await host.call('POST', '/api/checkpoints', {})).status, 202);
    await until(async () => (await listed())['running'] === null, { what: 'the end of the checkpoint' });
    assert.equal((await listed())['failure'], null, JSON.stringify(await listed()));
  }
  const written = await stop();
  await command(host, NEW);

  t.diagnostic(`${CHECKPOINTS} checkpoints beside ${written.commands} commands and ${written.jobs} changes of a job`);
  assert.ok(written.commands > 0 && written.jobs > 0, JSON.stringify(written));
  for (let n = 1; n <= CHECKPOINTS; n += 1) assert.deepEqual(faultsOf(checkpointFolder(project.path, `c${n}`)), []);
  const once = (of: { readonly project: string; readonly environment: Readonly<Record<string, string | undefined>> }) =>
    assembleOnce({ ...of, mode: 'test' });
  const verify = () => verifyCheckpoint({ project: project.path, environment: project.env, name: 'c1' }, { once });

  assert.deepEqual((await verify()).faults, []);
  const journal = join(checkpointFolder(project.path, 'c1'), 'journal');
  const segment = join(journal, readdirSync(journal)[0] ?? '');
  writeFileSync(segment, readFileSync(segment, 'utf8').replace('web-1', 'web-9'));
  assert.equal((await verify()).ok, false);
});

const NEW = { kind: 'new', board: 'web', title: 'One' };
const command = (host: Running, body: object) => host.call('POST', '/api/workroom/commands', body);

/** Commands of the Workroom and changes of one job, until it is called; it then tells how many there were. */
function load(host: Running): () => Promise<{ readonly commands: number; readonly jobs: number }> {
  const over = new AbortController();
  const written = { commands: 0, jobs: 0 };
  const adding = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const { status, text } = await command(host, NEW);
      // Lanes beside it may have changed the board each time that it was decided: it is asked to come again.
      assert.ok(status === 200 || /others kept changing this item/.test(text), text);
      if (status === 200) written.commands += 1;
    }
  };
  const changing = async (): Promise<void> => {
    for (; !over.signal.aborted; written.jobs += 1) {
      const say = { to: { endpoint: 'sandbox', conversation: 'dev' }, text: `change ${written.jobs}` };
      const { status, text } = await host.call('PUT', '/api/jobs/load', { cron: '0 16 * * *', do: { say } });
      assert.ok(status === 200 || status === 201, text);
    }
  };
  const lanes = Promise.all([changing(), ...Array.from({ length: LANES }, adding)]);
  return async () => {
    over.abort();
    await lanes;
    return written;
  };
}

/** What of a checkpoint is not of the position that its manifest tells. */
function faultsOf(folder: string): readonly string[] {
  const { journal, catalog, events, jobs, database: told } = readManifest(folder);
  const database = new Sqlite(join(folder, 'data.sqlite'), { readonly: true });
  try {
    const one = (sql: string): number => Number(database.prepare(sql).pluck().get());
    const spooled = database.prepare('SELECT seq FROM workroom_spool').pluck().all() as number[];
    const all = [...new Set([...filedIn(folder), ...spooled])].toSorted((a, b) => a - b);
    const found = {
      'events of the journal': [all.length, journal?.seq],
      'last event of the journal': [all.at(-1), journal?.seq],
      'catalog of the journal': [catalog?.appliedSeq, journal?.seq],
      'events of the history': [one('SELECT max(seq) FROM event_log'), events.head],
      'rows of the history': [one('SELECT count(*) FROM event_log'), told.rows['event_log']],
      'accepted commands in the history': [one(ACCEPTED), journal?.seq],
      'files that were held': [readdirSync(folder).filter((name) => name.endsWith('.held')).length, 0],
      'jobs that are taken in': [one(TAKEN), one(TOLD)],
      // The file is written before the database takes it in, so it may be one change ahead.
      'jobs in the file': [jobs.revision - one(TAKEN) === 1 ? one(TAKEN) : jobs.revision, one(TAKEN)],
    };
    return Object.entries(found).flatMap(([what, [is, position]]) =>
      is === position ? [] : [`${folder}: ${what}: ${is}, of the moment: ${position}`],
    );
  } finally {
    database.close();
  }
}

const ACCEPTED = "SELECT count(*) FROM event_log WHERE type IN ('workroom.board_changed', 'workroom.item_changed')";
const TAKEN = "SELECT coalesce(max(json_extract(value, '$.revision')), 0) FROM meta WHERE key = 'jobs'";
const TOLD = "SELECT coalesce(max(json_extract(data, '$.revision')), 0) FROM event_log WHERE type = 'job.file_taken'";

/** Numbers of the events in segments, whose first line is no event. */
const filedIn = (folder: string): readonly number[] =>
  readdirSync(join(folder, 'journal')).flatMap((name) =>
    readFileSync(join(folder, 'journal', name), 'utf8')
      .split('\n')
      .slice(1, -1)
      .map((line) => Number((JSON.parse(line.replace(/^\S+ \S+ /, '')) as { seq: number }).seq)),
  );
