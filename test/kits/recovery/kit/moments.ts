// Checkpoints of a Workroom that people work at, its journal in files: database and files of each checkpoint are of one moment.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKPOINT_FILES, checkpointFolder } from '../../../../shared/recovery/layout.ts';
import { Sqlite } from '../../../../shared/sqlite.ts';
import { freePort } from '../../../support/free-port.ts';
import { type Cleanup, temporaryProject } from '../../../support/temporary-project.ts';
import { until } from '../../../support/until.ts';
import { HostApi } from '../../crash/kit/host-api.ts';
import { logTail, WorkerLife } from '../../crash/kit/worker-life.ts';
import { WorkroomLoad } from '../../workroom/kit/workroom-load.ts';

const PEOPLE = 16;

export interface MomentsOptions {
  /** So many checkpoints, or fewer where a fault is found. */
  readonly most: number;
  /** One of PLANTS (kill-plan.ts). */
  readonly plant?: string;
}

/** What of the checkpoints is not of one moment. */
export async function faultsOfMoments(t: Cleanup, { most, plant }: MomentsOptions): Promise<readonly string[]> {
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
      plugins: { work: {} },
    },
  });
  const url = `http://127.0.0.1:${port}`;
  const load = new WorkroomLoad(url, project.token);
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
  await load.post('board', { kind: 'board.add', board: 'web', name: 'Web site' });
  load.begin(PEOPLE);
  load.open();
  const faults: string[] = [];
  for (let made = 0; made < most && faults.length === 0; made += 1) {
    await load.reaches(load.acknowledged.length + PEOPLE);
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
    faults.push(...faultsOf(checkpointFolder(project.path, name)).map((fault) => `${name}: ${fault}`));
  }
  return [...faults, ...load.faults];
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

/**
 * An event is stored in the spool of the database, then written to a file, then its place is stored. So a place is of an event that the files have,
 * and a line of one that the database knows.
 */
function faultsOf(folder: string): readonly string[] {
  const database = new Sqlite(join(folder, CHECKPOINT_FILES.database), { readonly: true });
  try {
    const last = (table: string): number => Number(database.prepare(`SELECT max(seq) FROM ${table}`).pluck().get());
    const [placed, spooled, written] = [last('workroom_places'), last('workroom_spool'), lastWritten(folder)];
    const head = Math.max(placed, spooled);
    return [
      ...(placed > written ? [`the database knows the place of event ${placed}, the files end with ${written}`] : []),
      ...(written > head ? [`the files end with event ${written}, the database with ${head}`] : []),
    ];
  } finally {
    database.close();
  }
}

function lastWritten(folder: string): number {
  const journal = join(folder, CHECKPOINT_FILES.journal);
  const segments = existsSync(journal) ? readdirSync(journal).sort() : [];
  const lines = segments.flatMap((name) => readFileSync(join(journal, name), 'utf8').split('\n'));
  // A header, then `<crc> <bytes> <json>` for each event.
  const numbers = lines.flatMap((line) => {
    const [, json] = /^[0-9a-f]{8} \d+ (\{.*)$/.exec(line) ?? [];
    return json === undefined ? [] : [(JSON.parse(json) as { readonly seq: number }).seq];
  });
  return Math.max(0, ...numbers);
}
