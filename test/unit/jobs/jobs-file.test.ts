// Faults of the jobs file: each has its line and column, and the published schema takes what the host takes.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkJobs, jobsFaultLine, readJobsFile } from '../../../shared/jobs/jobs-file.ts';
import { jobsSchema } from '../../../shared/jobs/jobs-schema.ts';
import { loadAjv } from '../../../shared/load-ajv.ts';
import { JobsFileWatch } from '../../../worker/jobs/jobs-file-watch.ts';

const OF = { zone: 'UTC', now: Date.parse('2026-01-01T00:00Z') };
const SAY = { say: { to: { endpoint: 'irc~libera', conversation: '#web' }, text: 'hello' } };
const JOB = { id: 'tea', cron: '0 9 * * 1-5', do: SAY };
const fileWith = (...jobs: readonly unknown[]): string => JSON.stringify({ version: 1, jobs }, null, 2);

async function faultsOf(text: string): Promise<readonly string[]> {
  const checked = await checkJobs(text, OF);
  return checked.kind === 'valid' ? [] : checked.faults.map(jobsFaultLine);
}
const AT = 'data/schedule-jobs.json:';

const FAULTS: readonly (readonly [string, string, RegExp])[] = [
  ['nothing', '', /^1:1 is empty/],
  [
    'a missing bracket',
    '{\n "version": 1,\n "jobs": [',
    /^3:\d+ is not valid JSON: expected a value, but the file ends/,
  ],
  [
    'a comma too many',
    '{ "version": 1, "jobs": [], }',
    /^1:29 is not valid JSON: expected a key in double quotes, but there is "}"/,
  ],
  ['a comment', '{\n // mine\n "version": 1 }', /^2:2 is not valid JSON/],
  ['a list', '[]', /^1:1 must be an object/],
  ['no version', '{ "jobs": [] }', /needs the key version: 1/],
  ['another version', '{\n "version": 2, "jobs": [] }', /^2:2 version must be 1/],
  ['no jobs', '{ "version": 1 }', /needs the key jobs/],
  ['a key given twice', '{ "version": 1,\n "version": 1, "jobs": [] }', /^2:2 version is given a second time/],
  ['a key of nobody', '{ "version": 1, "jobs": [], "job": [] }', /^1:29 job is not a key here; did you mean jobs\?/],
  ['a number that is no text', fileWith({ ...JOB, cron: 5 }), /^6:7 jobs\[0\]\.cron must be a text/],
  [
    'a misspelt key',
    fileWith({ ...JOB, timezon: 'UTC' }),
    /jobs\[0\]\.timezon is not a key here; did you mean timezone\?/,
  ],
  ['an id in capitals', fileWith({ ...JOB, id: 'Tea' }), /jobs\[0\]\.id must be of a-z/],
  ['an id given twice', fileWith(JOB, JOB), /jobs\[1\]\.id is the id of jobs\[0\] too/],
  ['two timings', fileWith({ ...JOB, every: '1h' }), /has cron and every: one of them/],
  ['no timing', fileWith({ id: 'tea', do: SAY }), /needs one of cron, at and every/],
  ['seconds in cron', fileWith({ ...JOB, cron: '0 0 9 * * 1' }), /must have five fields/],
  ['an hour of nobody', fileWith({ ...JOB, cron: '0 25 * * *' }), /jobs\[0\]\.cron cannot be read/],
  ['a day that never comes', fileWith({ ...JOB, cron: '0 0 30 2 *' }), /is never due/],
  ['a zone of nobody', fileWith({ ...JOB, timezone: 'Europe/Berln' }), /did you mean Europe\/Berlin\?/],
  ['a zone beside every', fileWith({ id: 'a', every: '1h', timezone: 'UTC', do: SAY }), /has no meaning beside every/],
  ['a day that does not exist', fileWith({ id: 'a', at: '2027-02-30T09:00', do: SAY }), /at must be a time such as/],
  ['every too often', fileWith({ id: 'a', every: '5s', do: SAY }), /every must be a duration of 10s to 366d/],
  [
    'jitter over half of every',
    fileWith({ id: 'a', every: '1m', jitter: '40s', do: SAY }),
    /jitter must be at most half of every/,
  ],
  [
    'from without an offset',
    fileWith({ id: 'a', every: '1m', from: '2026-01-01T00:00', do: SAY }),
    /from must be a time with Z/,
  ],
  ['run_all that would be skipped', fileWith({ ...JOB, missed: 'run_all' }), /run_all needs "overlap"/],
  [
    'a policy of nobody',
    fileWith({ ...JOB, overlap: 'quee' }),
    /overlap must be one of skip, queue, allow; did you mean queue\?/,
  ],
  ['no action', fileWith({ id: 'a', every: '1m' }), /jobs\[0\] needs the key do/],
  [
    'an agent',
    fileWith({ ...JOB, do: { agent: {} } }),
    /do\.agent is not there yet: this version of svc has no agents; use say, command or item/,
  ],
  ['an item without a board', fileWith({ ...JOB, do: { item: { title: 'a' } } }), /do\.item needs the key board/],
  [
    'an item on a board of nobody',
    fileWith({ ...JOB, do: { item: { board: 'Web', title: 'a' } } }),
    /do\.item\.board must be the id of a board/,
  ],
  [
    'an item with a misspelt key',
    fileWith({ ...JOB, do: { item: { board: 'web', title: 'a', asign: 'ann' } } }),
    /do\.item\.asign is not a key here; did you mean assign\?/,
  ],
  [
    'an item with a long title',
    fileWith({ ...JOB, do: { item: { board: 'web', title: 'x'.repeat(513) } } }),
    /do\.item\.title must have at most 512 bytes/,
  ],
  [
    'an item with a deadline that is no duration',
    fileWith({ ...JOB, do: { item: { board: 'web', title: 'a', due: 'soon' } } }),
    /do\.item\.due must be a duration of 1m to 366d/,
  ],
  [
    'a place without conversation',
    fileWith({ ...JOB, do: { say: { to: { endpoint: 'a' }, text: 'b' } } }),
    /do\.say\.to needs the key conversation/,
  ],
  [
    'a text too long',
    fileWith({ ...JOB, do: { say: { ...SAY.say, text: 'x'.repeat(16_385) } } }),
    /text must have at most 16384 bytes/,
  ],
  ['a line of two', fileWith({ ...JOB, do: { command: { in: SAY.say.to, line: '/a\nb' } } }), /line must be one line/],
  [
    'a key that JavaScript takes for its own',
    '{ "version": 1, "jobs": [], "__proto__": 1 }',
    /^1:29 the key __proto__ is not taken/,
  ],
  ['nesting without end', `{ "version": 1, "jobs": ${'['.repeat(10_000)}`, /nests deeper than 32 levels/],
];

describe('a jobs file', () => {
  for (const [what, text, expected] of FAULTS)
    it(`with ${what} is refused with its place`, async () => {
      const lines = (await faultsOf(text)).map((line) => line.replace(AT, ''));

      assert.ok(
        lines.some((line) => expected.test(line)),
        lines.join('\n'),
      );
      assert.ok(
        lines.every((line) => /^\d+:\d+ /.test(line)),
        lines.join('\n'),
      );
    });

  it('names all its faults at once, in order', async () => {
    const lines = await faultsOf(fileWith({ ...JOB, id: 'A', cron: 'x' }, { ...JOB, tilte: 'b' }));

    assert.deepEqual(
      lines.map((line) => line.replace(/^\S+ (\S+).*/, '$1')),
      ['jobs[0].id', 'jobs[1].tilte'],
    );
  });

  it('takes keys of the operator, which begin with x-, and so does the published schema', async () => {
    const text = JSON.stringify({
      $schema: '../x.json',
      version: 1,
      revision: 3,
      'x-team': { any: 1 },
      jobs: [
        {
          ...JOB,
          'x-owner': 'ann',
          title: 'Tea',
          missed: 'run_all',
          overlap: 'queue',
          within: '12h',
          jitter: '30s',
          paused: true,
        },
        {
          id: 'b',
          at: '2027-02-01T09:00',
          timezone: 'Europe/Berlin',
          do: { command: { in: SAY.say.to, line: '/a b', 'x-y': 1 } },
        },
        { id: 'c', every: '15m', from: '2026-12-01T00:00Z', do: SAY },
        { id: 'd', cron: '@daily', do: SAY },
        { id: 'e', cron: '@weekly', do: { item: { board: 'web', title: 'Renew', assign: 'ann', due: '3d' } } },
      ],
    });
    const Ajv = loadAjv();
    const { $schema: _dialect, ...schema } = jobsSchema; // it uses nothing that this Ajv does not know
    const validate = new Ajv({ strict: false }).compile(schema);

    assert.deepEqual(await faultsOf(text), []);
    assert.ok(validate(JSON.parse(text)), JSON.stringify(validate.errors));
    assert.equal(validate({ version: 1, jobs: [{ ...JOB, tilte: 'b' }] }), false);
    assert.equal(validate({ version: 1, jobs: [{ ...JOB, do: { agent: {} } }] }), false);
  });

  it('of a thousand jobs is read, and the one after them is a fault', async () => {
    const jobs = Array.from({ length: 1_001 }, (_, index) => ({
      ...JOB,
      id: `j${index}`,
      cron: `${index % 60} ${index % 24} * * *`,
    }));

    assert.deepEqual(await faultsOf(fileWith(...jobs.slice(1))), []);
    assert.match((await faultsOf(fileWith(...jobs))).join(), /is past the 1000 jobs/);
  });

  it('of a thousand jobs gives other work its turns', async () => {
    const jobs = Array.from({ length: 1_000 }, (_, index) => ({
      ...JOB,
      id: `j${index}`,
      cron: `${index % 60} ${index % 24} * * *`,
    }));
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await faultsOf(fileWith(...jobs));
    isOver = true;

    assert.ok(turns >= 40, `${turns} turns`);
  });
});

describe('a path of the jobs file', () => {
  const folder = (t: TestContext): string => {
    const made = mkdtempSync(join(tmpdir(), 'svc-jobs-'));
    t.after(() => rmSync(made, { recursive: true, force: true }));
    return made;
  };
  const refusal = (path: string): string => {
    const file = readJobsFile(path);
    return file.kind === 'refused' ? file.fault.message : file.kind;
  };

  it('that is no regular file is refused, and never waited on', (t) => {
    const at = folder(t);
    mkdirSync(join(at, 'folder'));
    execFileSync('mkfifo', [join(at, 'fifo')]);
    symlinkSync(join(at, 'nowhere'), join(at, 'link'));
    symlinkSync('/dev/zero', join(at, 'device'));

    assert.match(refusal(join(at, 'folder')), /not a regular file/);
    assert.match(refusal(join(at, 'fifo')), /not a regular file/);
    assert.match(refusal(join(at, 'link')), /symbolic link whose target is not there/);
    assert.match(refusal(join(at, 'device')), /not a regular file/);
    assert.equal(refusal(join(at, 'none')), 'absent');
    assert.equal(new JobsFileWatch(join(at, 'none')).isThere(), false);
  });

  it('that all may write, that is too large or no UTF-8 is refused', (t) => {
    const file = join(folder(t), 'jobs.json');
    writeFileSync(file, '{}');
    chmodSync(file, 0o666);
    assert.match(refusal(file), /can be written by all users.*chmod o-w/);
    chmodSync(file, 0o600);
    assert.equal(refusal(file), 'text');
    writeFileSync(file, ' '.repeat(1_048_577));
    assert.match(refusal(file), /larger than 1048576 bytes/);
    writeFileSync(file, Buffer.from([0x22, 0xff, 0x22]));
    assert.match(refusal(file), /not valid UTF-8/);
  });
});
