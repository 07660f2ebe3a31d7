// Checkpoints of a Workroom under full load, its journal in files: database, files of the journal and jobs file of each checkpoint are of one moment.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKPOINT_FILES, checkpointFolder } from '../../../../shared/recovery/layout.ts';
import { type Manifest, readManifest } from '../../../../shared/recovery/manifest.ts';
import { type Database, Sqlite } from '../../../../shared/sqlite.ts';
import { systemClock } from '../../../../shared/time/clock.ts';
import { freePort } from '../../../support/free-port.ts';
import { type Cleanup, temporaryProject } from '../../../support/temporary-project.ts';
import { until } from '../../../support/until.ts';
import { HostApi } from '../../crash/kit/host-api.ts';
import { logTail, WorkerLife } from '../../crash/kit/worker-life.ts';
import { type Acknowledged, BusyLoad } from './busy-load.ts';

const MANY = 10_000_000;

export interface MomentsOptions {
  /** So many checkpoints, or fewer where a fault is found. */
  readonly most: number;
  /** One of PLANTS (kill-plan.ts). */
  readonly plant?: string;
}

export interface Moments {
  readonly made: number;
  /** What of the checkpoints is not of one moment. */
  readonly faults: readonly string[];
  /** Units that were committed a second, while checkpoints were made. */
  readonly unitsPerSecond: number;
}

export async function moments(t: Cleanup, { most, plant }: MomentsOptions): Promise<Moments> {
  const port = await freePort();
  const project = temporaryProject(t, {
    config: {
      host: { name: 'moments', kind: 'workroom' },
      workroom: { store: 'file' },
      log_level: 'warn',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      http: { port, token: '${HTTP_TOKEN}' },
      disk: { minFreeBytes: 0 },
      recovery: { everyHours: 0, verifyDays: 0 },
      inbox: { maxPending: MANY },
      events: { history: { maxEvents: MANY, maxBytes: 64 * 1024 ** 3 } },
      plugins: { work: {}, sandbox: {}, echo: {} },
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const load = new BusyLoad(url, project.token);
  const api = new HostApi(url, project.token);
  const life = new WorkerLife(project.path, { plant });
  t.after(async () => {
    load.end();
    await life.kill();
  });
  const lives = (): true => {
    if (life.end !== undefined) throw new Error(`the worker ended:\n${logTail(project.path)}`);
    return true;
  };
  await until(async () => lives() && api.isReady(), { what: 'the host to be ready' });
  await load.begin();
  const faults: string[] = [];
  const begun = { at: systemClock.monotonic(), units: await unitsOf(url, project.token) };
  let made = 0;
  for (; made < most && faults.length === 0; made += 1) {
    await load.goesOn();
    const acknowledged = load.acknowledged();
    const name = await makeCheckpoint(url, project.token);
    await until(
      async () => {
        lives();
        const { running, failure } = (await api.get('/api/checkpoints')) as { running: unknown; failure: unknown };
        if (failure !== null) throw new Error(JSON.stringify(failure));
        return running === null;
      },
      { what: 'the checkpoint', everyMs: 50 },
    );
    const folder = checkpointFolder(project.path, name);
    faults.push(...faultsOf(folder, acknowledged).map((fault) => `${name}: ${fault}`), ...load.faults);
  }
  const units = (await unitsOf(url, project.token)) - begun.units;
  return { made, faults, unitsPerSecond: Math.round((units * 1_000) / (systemClock.monotonic() - begun.at)) };
}

async function makeCheckpoint(url: string, token: string): Promise<string> {
  const response = await fetch(`${url}/api/checkpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
    body: '{}',
  });
  const text = await response.text();
  if (response.status !== 202) throw new Error(`no checkpoint is made: ${response.status} ${text}`);
  return (JSON.parse(text) as { readonly name: string }).name;
}

async function unitsOf(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/api/metrics`, {
    headers: { authorization: `Bearer ${token}`, connection: 'close' },
  });
  return Number(/^svc_commit_units_total(?:\{[^}]*\})? (\d+)$/m.exec(await response.text())?.[1]);
}

/** What of the checkpoint is not of one moment, or is missing though it was acknowledged before. */
function faultsOf(folder: string, acknowledged: Acknowledged): readonly string[] {
  const manifest = readManifest(folder);
  const database = new Sqlite(join(folder, CHECKPOINT_FILES.database), { readonly: true });
  try {
    return [
      ...faultsOfJournal(folder, database, manifest),
      ...faultsOfEvents(database, manifest),
      ...faultsOfJobs(folder, database, manifest),
      ...lost(database, acknowledged),
    ];
  } finally {
    database.close();
  }
}

const one = (database: Database, query: string): number => Number(database.prepare(query).pluck().get() ?? 0);
const differs = (what: string, found: number, wanted: number): readonly string[] =>
  found === wanted ? [] : [`${what}: ${found}, not ${wanted}`];

/**
 * An event is stored in the spool of the database, then written to a file, then its place is stored. So a place is of an event that the files have,
 * and a line of one that the database knows.
 */
function faultsOfJournal(folder: string, database: Database, { journal, catalog }: Manifest): readonly string[] {
  const last = (table: string): number => one(database, `SELECT max(seq) FROM ${table}`);
  const [placed, spooled, written] = [last('workroom_places'), last('workroom_spool'), lastWritten(folder)];
  const head = Math.max(placed, spooled);
  return [
    ...(placed > written ? [`the database knows the place of event ${placed}, the files end with ${written}`] : []),
    ...(written > head ? [`the files end with event ${written}, the database with ${head}`] : []),
    ...differs('head of the journal', one(database, 'SELECT seq FROM workroom_head'), head),
    ...differs('head of the journal in the manifest', journal?.seq ?? 0, head),
    ...differs('event of the journal that the catalog has applied', catalog?.appliedSeq ?? 0, head),
  ];
}

/** Each change of an item, and each run of a job, is of one unit with its event. */
function faultsOfEvents(database: Database, { events }: Manifest): readonly string[] {
  const head = one(database, "SELECT value FROM counters WHERE name = 'event'");
  const changed = `SELECT count(*) FROM workroom_catalog WHERE kind = 'item' AND version IS NOT
    (SELECT json_extract(data, '$.version') FROM event_log WHERE type = 'workroom.item_changed' AND json_extract(data, '$.item') = substr(stream, 6) ORDER BY seq DESC LIMIT 1)`;
  return [
    ...differs('last event', one(database, 'SELECT max(seq) FROM event_log'), head),
    ...differs('head of the events in the manifest', events.head, head),
    ...differs('events', one(database, 'SELECT count(*) FROM event_log'), head - events.oldest + 1),
    ...differs('items whose last event is of another version', one(database, changed), 0),
    ...differs(
      'runs of jobs',
      one(database, 'SELECT count(*) FROM job_runs'),
      one(database, "SELECT count(*) FROM event_log WHERE type = 'job.started'"),
    ),
  ];
}

/** The file is written, then the database takes it in: the file may be one change ahead, which nobody has acknowledged. */
function faultsOfJobs(folder: string, database: Database, { jobs }: Manifest): readonly string[] {
  const text = readFileSync(join(folder, CHECKPOINT_FILES.jobs), 'utf8');
  const { revision } = JSON.parse(text) as { readonly revision: number };
  const taken = one(
    database,
    "SELECT json_extract(data, '$.revision') FROM event_log WHERE type = 'job.file_taken' ORDER BY seq DESC LIMIT 1",
  );
  const sha256 = database.prepare("SELECT value FROM meta WHERE key = 'jobs_sha256'").pluck().get();
  const isSame = createHash('sha256').update(text).digest('hex') === sha256;
  return [
    ...differs('revision of the jobs in the manifest', jobs.revision, revision),
    ...(revision === taken || revision === taken + 1
      ? []
      : [`the jobs file has revision ${revision}, the database has taken ${taken}`]),
    ...(isSame === (revision === taken)
      ? []
      : [`revision ${revision} of the jobs file is another one in the database`]),
  ];
}

function lost(database: Database, { versions, messages, runs, jobChanges }: Acknowledged): readonly string[] {
  const stored = new Map(
    database.prepare('SELECT stream, version FROM workroom_catalog').raw().all() as [string, number][],
  );
  const atLeast = (what: string, query: string, wanted: number): readonly string[] => {
    const found = one(database, query);
    return found >= wanted ? [] : [`${what}: ${found}, of which ${wanted} were acknowledged`];
  };
  return [
    ...[...versions].flatMap(([stream, version]) =>
      (stored.get(stream) ?? 0) >= version ? [] : [`${stream} has lost version ${version}`],
    ),
    ...atLeast('messages', "SELECT count(*) FROM inbox WHERE delivery_id NOT LIKE 'job/%'", messages),
    ...atLeast('runs of jobs', 'SELECT count(*) FROM job_runs', runs),
    ...atLeast('changes of jobs', "SELECT count(*) FROM event_log WHERE type = 'job.file_taken'", jobChanges),
  ];
}

/** Number of the last event in the files. 0 without one. */
function lastWritten(folder: string): number {
  const journal = join(folder, CHECKPOINT_FILES.journal);
  const segments = existsSync(journal) ? readdirSync(journal).sort().toReversed() : [];
  for (const name of segments) {
    // A header, then `<crc> <bytes> <json>` for each event.
    const lines = readFileSync(join(journal, name), 'utf8').trimEnd().split('\n');
    const [, json] = /^[0-9a-f]{8} \d+ (\{.*)$/.exec(lines.at(-1) ?? '') ?? [];
    const { seq } = JSON.parse(json ?? '{}') as { readonly seq?: number };
    if (seq !== undefined) return seq;
  }
  return 0;
}
