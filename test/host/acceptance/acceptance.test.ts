// Acceptance of a whole host: over HTTP, and by `svc accept` in this process.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Acceptance, AcceptanceRow } from '../../../shared/api/recovery/acceptance.ts';
import { RELEASE_FORMAT, type ReleaseRecord, writeRelease } from '../../../shared/recovery/release-record.ts';
import { command } from '../../../supervisor/cli/commands/accept.ts';
import { parseCommand } from '../../../supervisor/cli/program.ts';
import { openReadOnly, openWritable } from '../../../worker/database/sqlite/connection.ts';
import { commandContext } from '../../support/commands/command-context.ts';
import { freePort } from '../../support/free-port.ts';
import { createHostClient } from '../../support/hosts/app-client.ts';
import { HTTP, type Running, running } from '../../support/hosts/app-host.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const ADDRESS = '/api/system/acceptance';
const HEALTH = [{ url: 'http://127.0.0.1/pub/health', status: 200, reason: null, ms: 1 }];

const asked = async ({ call }: Running, query = ''): Promise<Acceptance> => {
  const { status, json, text } = await call('GET', `${ADDRESS}${query}`);
  assert.equal(status, 200, text);
  return json as unknown as Acceptance;
};

const accept = async ({ call }: Running, body: object): Promise<Acceptance> => {
  const { status, json, text } = await call('POST', ADDRESS, body);
  assert.equal(status, 200, text);
  return json as unknown as Acceptance;
};

const answers = ({ rows }: Acceptance): Record<string, string> =>
  Object.fromEntries(rows.map(({ row, answer }) => [row, answer]));

const rowOf = ({ rows }: Acceptance, name: string): AcceptanceRow => {
  const found = rows.find(({ row }) => row === name);
  assert.ok(found !== undefined);
  return found;
};

async function say({ call }: Running, text: string): Promise<void> {
  const { status } = await call('POST', '/api/chat/say', { person: 'ann', text, delivery: text });
  assert.equal(status, 202);
}

const handled = async (host: Running): Promise<void> => {
  await until(async () => (await asked(host)).facts.endpoints.every((one) => one.handled > 0), {
    what: 'a handled one',
  });
};

async function svcAccept(host: Running, ...words: string[]) {
  const { context, output } = commandContext({ cwd: host.project.path, json: true });
  const { args, options } = parseCommand(command, words);
  const code = await command.run({ ...context, host: async () => createHostClient(host) }, args, options);
  return { code, acceptance: output.documents.at(-1) as Acceptance, notes: output.notes };
}

const events = async ({ call }: Running): Promise<Record<string, unknown>[]> => {
  const { json } = await call('GET', '/api/events?format=json&types=host.accepted&limit=100');
  return (json['events'] ?? json['items']) as Record<string, unknown>[];
};

function stored({ project }: Running): Record<string, unknown>[] {
  const database = openReadOnly(project.paths.database);
  const rows = database.prepare('SELECT * FROM acceptances ORDER BY id').all() as Record<string, unknown>[];
  database.close();
  return rows;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function release({ project }: Running, lockfile: string): void {
  const version = { commit: null, configVersion: null, svc: null, schema: null };
  const record: ReleaseRecord = {
    format: RELEASE_FORMAT,
    name: 'r1',
    source: { kind: 'folder', value: '../next' },
    state: 'started',
    steps: [{ state: 'begun', at: new Date(Date.now() - 3_600_000).toISOString(), actor: 'cli' }],
    before: { ...version, lockfile: 'before' },
    after: { ...version, lockfile },
    restorePoint: 'c1',
    owner: 'daemon',
    tree: null,
    wasPaused: false,
    results: {},
    windowUntil: null,
    verdict: null,
  };
  writeRelease(project.path, record);
}

describe('acceptance over HTTP', () => {
  it('leaves open what only a person or the caller can know, and stores nothing', async (t) => {
    const host = await running(t);

    const first = await asked(host);
    const refused = await accept(host, { health: HEALTH });

    assert.deepEqual(answers(first), {
      health: 'unknown',
      host: 'unknown',
      endpoints: 'unknown',
      capability: 'yes',
      authority: 'yes',
      quiet: 'yes',
    });
    assert.deepEqual([refused.accepted, refused.id, answers(refused)['health']], [false, null, 'yes']);
    assert.deepEqual([stored(host), await events(host)], [[], []]);
  });

  it('stores what is settled with its event, and compares the next with it', async (t) => {
    const host = await running(t);
    await say(host, 'hello');
    await handled(host);
    const settled = { host: 'first release' };

    const first = await accept(host, { health: HEALTH, settled });
    const next = await accept(host, { health: HEALTH });

    assert.deepEqual([first.accepted, first.id, next.accepted, next.id], [true, 1, true, 2]);
    assert.equal(rowOf(first, 'host').settled, 'first release');
    assert.match(rowOf(next, 'host').evidence.join('\n'), /as accepted /);
    const rows = stored(host);
    assert.deepEqual(
      rows.map(({ id, actor, release: name, rows: judged }) => [id, actor, name, JSON.parse(String(judged)).length]),
      [
        [1, 'token:full', null, 6],
        [2, 'token:full', null, 6],
      ],
    );
    assert.deepEqual(
      (await events(host)).map(({ actor, data }) => [actor, data]),
      [
        ['token:full', { acceptance: 1, release: null, settled: ['host'] }],
        ['token:full', { acceptance: 2, release: null, settled: [] }],
      ],
    );
  });

  it('gives two at the same time two numbers', async (t) => {
    const host = await running(t);
    const body = { health: HEALTH, settled: { host: 'first', endpoints: 'nobody writes' } };

    const both = await Promise.all([accept(host, body), accept(host, body)]);

    assert.deepEqual(
      both.map(({ id }) => id ?? 0).toSorted((a, b) => a - b),
      [1, 2],
    );
    assert.equal((await events(host)).length, 2);
  });

  it('answers a repeated request with the acceptance that it stored', async (t) => {
    const host = await running(t);
    const ask = () =>
      createHostClient(host).request('POST', ADDRESS, {
        body: { health: HEALTH, settled: { host: 'first', endpoints: 'nobody writes' } },
        idempotencyKey: 'once',
      });

    const [first, again] = [(await ask()).body as Acceptance, (await ask()).body as Acceptance];

    assert.deepEqual([first.id, again.id, stored(host).length], [1, 1, 1]);
  });

  it('asks about what has changed since the last acceptance', async (t) => {
    const host = await running(t);
    await accept(host, { health: HEALTH, settled: { host: 'first', endpoints: 'nobody writes' } });
    host.configure({ plugins: { sandbox: {}, echo: {} } });
    assert.equal((await host.call('POST', '/api/system/reload', {})).status, 200);

    const changed = await accept(host, { health: HEALTH, settled: { endpoints: 'nobody writes' } });
    assert.deepEqual([answers(changed)['host'], answers(changed)['capability']], ['unknown', 'unknown']);
    assert.match(rowOf(changed, 'host').evidence[0] ?? '', /^configuration \w{12}, accepted was/);
    assert.match(rowOf(changed, 'capability').evidence.join('\n'), /root\/ping#\S+ is gone/);
    const settled = { host: 'meant', capability: 'meant', endpoints: 'nobody writes' };
    assert.equal((await accept(host, { health: HEALTH, settled })).accepted, true);
  });

  it('never takes a reason for a dead letter or a hole in the history', async (t) => {
    const project = temporaryProject(t, {
      config: { plugins: { sandbox: {}, fails: { use: './plugins/fails.mjs' } } },
      plugins: {
        'fails.mjs': `import { definePlugin, giveUp } from 'svc';
export default definePlugin({ name: 'fails', setup(p) { p.on('message', {}, () => { throw giveUp('no'); }); } });
`,
      },
    });
    const host = await running(t, { project });
    await say(host, 'hello');
    await until(async () => (await asked(host)).facts.quiet.dead > 0, { what: 'the dead letter' });
    const database = openWritable(project.paths.database);
    database.exec('DELETE FROM event_log WHERE seq = 2');
    database.close();
    const settled = { host: 'first', endpoints: 'known', quiet: 'known', authority: 'known' };

    const found = await accept(host, { health: HEALTH, settled });

    assert.deepEqual(
      [found.accepted, ...['endpoints', 'authority', 'quiet'].map((row) => answers(found)[row])],
      [false, 'no', 'no', 'no'],
    );
    assert.deepEqual(
      found.rows.map((row) => row.settled),
      [null, 'first', null, null, null, null],
    );
    assert.deepEqual(stored(host), []);
    const before = new Date(Date.now() + 1_000).toISOString();
    assert.equal((await asked(host, `?since=${before}`)).facts.quiet.diedSince, 0);
  });

  it('looks at the alerts before it says that none fires', async (t) => {
    const { project, app } = await running(t);
    await app.stop(2_000);
    const database = openWritable(project.paths.database);
    database
      .prepare(
        "INSERT INTO alerts VALUES ('SvcDiskLow', '', '{}', 'critical', 'firing', @at, @at, NULL, 0, 'firing', @at, '[]', 0)",
      )
      .run({ at: Date.now() - 3_600_000 });
    database.close();
    const host = await running(t, { project });

    const found = await asked(host);

    assert.deepEqual([found.facts.quiet.critical, answers(found)['quiet']], [['SvcDiskLow'], 'no']);
    const { json } = await host.call('GET', '/api/alerts');
    assert.notEqual(json['at'], null, 'somebody has looked');
  });

  it('judges a release by its record, and takes what was parked for traffic', async (t) => {
    const host = await running(t);
    await host.call('PUT', '/api/system/ingress', { state: 'paused' });
    release(host, 'other');
    await say(host, 'hello');

    const wrong = await accept(host, { health: HEALTH, settled: { host: 'known' } });
    release(host, sha256(host.project.read('package-lock.json')));
    const right = await accept(host, { health: HEALTH });

    assert.deepEqual([wrong.accepted, answers(wrong)['host']], [false, 'no']);
    assert.match(rowOf(wrong, 'host').evidence[0] ?? '', /r1 says other/);
    assert.deepEqual([right.accepted, answers(right)['endpoints']], [true, 'yes'], JSON.stringify(right.rows));
    assert.match(rowOf(right, 'endpoints').evidence[0] ?? '', /1 parked/);
    assert.deepEqual(
      stored(host).map((row) => row['release']),
      ['r1'],
    );
  });

  it('names the journal of a Workroom, with its last proof', async (t) => {
    const host = await running(t, {
      config: {
        host: { name: 'team', kind: 'workroom' },
        workroom: { store: 'file' },
        http: HTTP,
        plugins: { sandbox: {}, work: {} },
      },
    });
    await host.call('POST', '/api/workroom/commands', { kind: 'board.add', board: 'web', name: 'Web site' });
    await until(async () => answers(await asked(host))['authority'] === 'yes', { what: 'the first proof' });

    const { facts, rows } = await asked(host);

    assert.equal(facts.authority.journal?.project, facts.host.project);
    assert.match(JSON.stringify(rows), /the journal \(file\) at \d+, proven to/);
  });

  it('refuses a time that is none, a row that is none, and demo scope', async (t) => {
    const demo = 'demo-token-0123456789abcdef';
    const config = { http: { ...HTTP, demoToken: '$'.concat('{DEMO_TOKEN}') } };
    const host = await running(t, { project: temporaryProject(t, { config, env: { DEMO_TOKEN: demo } }) });
    const headers = { authorization: `Bearer ${demo}` };

    const statuses = [
      (await host.call('GET', `${ADDRESS}?since=yesterday`)).status,
      (await host.call('POST', ADDRESS, { settled: { weather: 'fine' } })).status,
      (await fetch(`http://127.0.0.1:${host.app.address()?.port}${ADDRESS}`, { headers })).status,
    ];

    assert.deepEqual(statuses, [400, 400, 403]);
  });
});

describe('svc accept', () => {
  it('asks for health and the sandbox by itself, and keeps a report of each try', async (t) => {
    const host = await running(t);

    const first = await svcAccept(host);
    const settled = await svcAccept(host, '--settle', 'host=first release');
    const next = await svcAccept(host, '--wait', '60s');

    assert.deepEqual([first.code, settled.code, next.code], [1, 0, 0], JSON.stringify([settled, next]));
    assert.deepEqual(answers(first.acceptance), {
      health: 'yes',
      host: 'unknown',
      endpoints: 'yes',
      capability: 'yes',
      authority: 'yes',
      quiet: 'yes',
    });
    assert.match(first.notes.at(-1) ?? '', /^not accepted: host unknown \(nothing was accepted before/);
    assert.deepEqual([settled.acceptance.id, next.acceptance.id], [1, 2]);
    const folder = host.project.paths.reportsDir;
    const reports = readdirSync(folder)
      .filter((name) => name.startsWith('acceptance-'))
      .sort()
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Acceptance);
    assert.deepEqual(
      reports.map((one) => one.id),
      [null, 1, 2],
    );
    const { json } = await host.call('GET', '/api/inbox?state=done');
    assert.equal((json['items'] as unknown[]).length, 1, 'the sandbox is asked once');
  });

  it('asks the public address, and leaves open one that this machine cannot reach', async (t) => {
    const server = createServer((_request, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const at = (url: string) =>
      running(t, { config: { http: { ...HTTP, publicUrl: `${url}/bots` }, plugins: { sandbox: {} } } });

    const wrong = await svcAccept(await at(`http://127.0.0.1:${port}`));
    const closed = await svcAccept(await at(`http://127.0.0.1:${await freePort()}`));

    assert.equal(answers(wrong.acceptance)['health'], 'no');
    assert.match(rowOf(wrong.acceptance, 'health').evidence[0] ?? '', /\/bots\/pub\/health: answers 404/);
    assert.equal(answers(closed.acceptance)['health'], 'unknown');
    assert.match(rowOf(closed.acceptance, 'health').evidence.join('\n'), /no answer: .*ECONNREFUSED[^]*answers 200/);
  });

  it('refuses what it cannot settle by', async (t) => {
    const host = await running(t);

    for (const words of [['host'], ['host='], ['=first'], ['hots=first']])
      await assert.rejects(svcAccept(host, '--settle', ...words), { code: 'usage' });
  });
});
