// Many who change the jobs file at once: over HTTP, and by hand as an editor saves it. And a host that stands still over several due times.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Sqlite } from '../../../shared/sqlite.ts';
import { type RunningHost, runningHost } from '../../support/hosts/running-host.ts';
import { shiftedBy } from '../../support/shifted-clock.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const WRITERS = 20;
const OF_A_WRITER = 3;
const SAVES = 6;
const TO = { endpoint: 'sandbox', conversation: 'room' };

interface Document {
  readonly version: number;
  readonly revision: number;
  readonly jobs: readonly { readonly id: string }[];
}

const job = (text: string) => ({ every: '366d', do: { say: { to: TO, text } } });
const fileOf = ({ project }: RunningHost): string => join(project.path, 'data/schedule-jobs.json');
const read = (host: RunningHost): Document => JSON.parse(readFileSync(fileOf(host), 'utf8')) as Document;
const idsOf = ({ jobs }: Document): readonly string[] => jobs.map(({ id }) => id).toSorted();

/** As editors do: a new file takes the name. */
function save(host: RunningHost, document: object): void {
  mkdirSync(join(host.project.path, 'data'), { recursive: true });
  writeFileSync(`${fileOf(host)}.edited`, JSON.stringify(document));
  renameSync(`${fileOf(host)}.edited`, fileOf(host));
}

/** Until it is accepted: a conflict is read again. Returns the revision. */
async function put(host: RunningHost, id: string): Promise<string> {
  for (;;) {
    const response = await fetch(`${host.url}api/jobs/${id}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${host.project.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(job(id)),
    });
    const text = await response.text();
    if (response.ok) return response.headers.get('etag') ?? '';
    assert.ok([409, 503].includes(response.status), `${response.status} ${text}`);
  }
}

async function race(
  host: RunningHost,
): Promise<{ readonly ids: readonly string[]; readonly revisions: readonly string[] }> {
  const written = await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const mine: { id: string; revision: string }[] = [];
      for (let n = 0; n < OF_A_WRITER; n += 1) {
        const id = `w${writer}-${n}`;
        mine.push({ id, revision: await put(host, id) });
      }
      return mine;
    }),
  );
  return { ids: written.flat().map(({ id }) => id), revisions: written.flat().map(({ revision }) => revision) };
}

const taken = (host: RunningHost): Promise<unknown> =>
  until(
    async () => {
      const { file } = (await host.get('api/jobs')) as { file: { state: string; sha256: string } };
      return (
        file.state === 'taken' &&
        file.sha256 ===
          createHash('sha256')
            .update(readFileSync(fileOf(host)))
            .digest('hex')
      );
    },
    { what: 'the file to be taken in' },
  );

const plugins = { sandbox: {} };

describe('the jobs file', { timeout: 600_000 }, () => {
  it('has every change of twenty writers, each with a revision of its own', async (t) => {
    const host = await runningHost(t, { plugins });
    const { ids, revisions } = await race(host);
    assert.deepEqual(idsOf(read(host)), ids.toSorted());
    assert.equal(new Set(revisions).size, ids.length);
    assert.equal(read(host).revision, ids.length);
    await taken(host);
  });

  it('has what an editor saves meanwhile, and every change that was accepted after it', async (t) => {
    const host = await runningHost(t, { plugins });
    await put(host, 'first');
    const over = new AbortController();
    const edited: string[] = [];
    const editor = (async () => {
      while (edited.length < SAVES && !over.signal.aborted) {
        const document = read(host);
        const id = `edited-${edited.length}`;
        save(host, { ...document, jobs: [...document.jobs, { id, ...job(id) }] });
        await taken(host);
        // Without a lock nobody sees a save between the host's last look and its rename. Whoever misses an entry saves again.
        if (idsOf(read(host)).includes(id)) edited.push(id);
      }
    })();
    const { revisions } = await race(host);
    over.abort();
    await editor;
    assert.equal(new Set(revisions).size, revisions.length);
    await taken(host);
    const { ids } = await race(host);
    const { jobs } = (await host.get('api/jobs')) as { jobs: readonly { id: string }[] };
    assert.deepEqual(jobs.map(({ id }) => id).toSorted(), idsOf(read(host)));
    for (const id of [...ids, ...edited]) assert.ok(idsOf(read(host)).includes(id), id);
  });
});

interface Row {
  readonly due: number;
  readonly until: number | null;
  readonly count: number;
  readonly state: string;
}

const EVERY_MS = 10_000;
const SUSPENDED_MS = 300_000;
/** Late by more than a minute is missed; one of the due times in the window runs. */
const WITHIN = '1m';

describe('a host that stands still over several due times', { timeout: 600_000 }, () => {
  it('has each of them in one run or in one missed range', async (t) => {
    const shift = join(temporaryProject(t).path, 'shift');
    const host = await runningHost(t, { plugins, processEnv: shiftedBy(shift) });
    save(host, {
      version: 1,
      revision: 1,
      jobs: [{ id: 'tick', ...job('tick'), every: '10s', within: WITHIN, overlap: 'queue' }],
    });
    await until(() => rows(host).length > 0, { what: 'a first run', timeoutMs: 120_000 });
    process.kill(host.pid(), 'SIGSTOP');
    writeFileSync(shift, String(SUSPENDED_MS));
    process.kill(host.pid(), 'SIGCONT');
    const behind = Date.now() + SUSPENDED_MS;
    await until(() => rows(host).some(({ due, state }) => due > behind && state !== 'missed'), {
      what: 'a run of a due time behind it',
      timeoutMs: 120_000,
    });
    const found = rows(host);
    const first = found[0]?.due ?? 0;
    const last = Math.max(...found.map(({ due, until: end }) => end ?? due));
    assert.ok(found.some(({ state, count }) => state === 'missed' && count > 1));
    for (let due = first; due <= last; due += EVERY_MS)
      assert.equal(
        found.filter((row) => row.due <= due && due <= (row.until ?? row.due)).length,
        1,
        new Date(due).toISOString(),
      );
    assert.equal(
      found.reduce((sum, { count }) => sum + count, 0),
      (last - first) / EVERY_MS + 1,
    );
  });
});

function rows(host: RunningHost): readonly Row[] {
  const database = new Sqlite(join(host.project.paths.stateDir, 'data.sqlite'), { readonly: true });
  try {
    return database
      .prepare('SELECT due, "until", "count", state FROM job_runs WHERE due IS NOT NULL ORDER BY due')
      .all() as Row[];
  } finally {
    database.close();
  }
}
