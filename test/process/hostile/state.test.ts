// The files of the database are truncated, overwritten, replaced or removed while the built host runs. Whatever was acknowledged is there after a kill and
// a start; or the host is not ready and says what is lost, and `svc doctor` does not call the database whole.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import type { ReadinessReport } from '../../../shared/api/serving/readiness.ts';
import { Sqlite } from '../../../shared/sqlite.ts';
import { fillDisk, smallDisk, smallDiskMissing } from '../../support/disk/small-disk.ts';
import { WebhookPlatform } from '../../support/fake-platforms/webhook-platform.ts';
import { foregroundArgs } from '../../support/process/built-svc.ts';
import { portProject, startSvc, supervisorStatus, svc } from '../../support/svc-command.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

const PATIENT = { everyMs: 50 };
const ACKNOWLEDGED = 7;

/** Writes over a part of the file, which keeps its size. */
function overwrite(file: string, { at = 0, ...some }: { at?: number; bytes?: number } = {}): void {
  const { bytes = statSync(file).size - at } = some;
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(bytes), 0, bytes, at);
  closeSync(descriptor);
}

const half = (file: string): number => Math.floor(statSync(file).size / 2);

/** A project with an account that takes deliveries, and what was acknowledged of them. */
async function hooked(t: Cleanup, keys: Readonly<Record<string, unknown>> = {}) {
  const platform = new WebhookPlatform(`whsec_${randomBytes(32).toString('base64')}`);
  const project = await portProject(t, {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    keys: { plugins: { webhook: { endpoints: [{ id: 'shop', secrets: ['${HOOK_SECRET}'] }] } }, ...keys },
    env: { HOOK_SECRET: platform.secret },
  });
  const file = join(project.paths.stateDir, 'data.sqlite');
  const acknowledged: string[] = [];
  return {
    project,
    file,
    async deliver(text = 'hello'): Promise<number> {
      const id = `evt_${randomUUID()}`;
      const { body, headers } = platform.sign(id, { conversation: { id: 'c' }, user: { id: 'u' }, text });
      const answer = await fetch(`${project.url}/webhooks/webhook/shop`, {
        method: 'POST',
        headers: { ...headers, connection: 'close' },
        body,
      }).catch(() => undefined);
      if (answer?.status === 200) acknowledged.push(id);
      return answer?.status ?? 0;
    },
    /** Of what was acknowledged, what a copy of the files has not. */
    lost(): string[] {
      const folder = mkdtempSync(join(tmpdir(), 'svc-copy-'));
      t.after(() => rmSync(folder, { recursive: true }));
      for (const part of ['', '-wal']) if (existsSync(`${file}${part}`)) execFileSync('cp', [`${file}${part}`, folder]);
      const copy = new Sqlite(join(folder, basename(file)));
      try {
        const there = new Set(copy.prepare('SELECT delivery_id FROM inbox').pluck().all());
        return acknowledged.filter((id) => !there.has(id));
      } finally {
        copy.close();
      }
    },
  };
}

/** Undefined while nobody answers, or the host is not up yet. */
async function readiness({ url, token }: { url: string; token: string }): Promise<ReadinessReport | undefined> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/api/system/readiness`, { headers }).catch(() => undefined);
  const report = answer === undefined ? undefined : ((await answer.json()) as ReadinessReport);
  return report?.state === 'starting' ? undefined : report;
}

async function daemon(t: Cleanup) {
  const { project, file, deliver, lost } = await hooked(t);
  const run = (...words: string[]) => svc(words, { cwd: project.path });
  const status = () => supervisorStatus(project);

  const started = await run('runtime', 'start', '--daemon', '--json');
  assert.equal(started.code, 0, started.stderr);
  for (let n = 0; n < ACKNOWLEDGED; n += 1) assert.equal(await deliver(), 200);

  return {
    file,
    log: `${file}-wal`,
    deliver,
    lost,
    /** SIGKILL, in the middle of whatever it does; `first` is done while it stands still. */
    async kill(first: () => void = () => {}): Promise<void> {
      const { pid } = await status();
      assert.ok(pid !== null);
      process.kill(pid, 'SIGSTOP');
      first();
      process.kill(pid, 'SIGKILL');
      await until(async () => ![null, pid].includes((await status()).pid), { what: 'the next worker', ...PATIENT });
    },
    /** Why the database is not ready; empty where the host is. */
    async settled(): Promise<string> {
      const report = await until(() => readiness(project), { what: 'a report on readiness', ...PATIENT });
      return report.ready ? '' : String(report.checks.find(({ component }) => component === 'database')?.reason);
    },
    doctor: async (): Promise<{ status: string; reason: string; fix?: string }> => {
      const { stdout } = await run('doctor', '--only', 'database.integrity', '--json');
      return JSON.parse(stdout).checks[0];
    },
  };
}

type Daemon = Awaited<ReturnType<typeof daemon>>;

const MENDED: readonly (readonly [string, (files: Daemon) => void])[] = [
  ['the log is truncated to nothing', ({ log }) => truncateSync(log)],
  ['the log is cut in half', ({ log }) => truncateSync(log, half(log))],
  ['the log is overwritten with zeros', ({ log }) => overwrite(log)],
  ['the log is overwritten with an older copy of itself', ({ log }) => copyFileSync(`${log}.older`, log)],
  ['the log is replaced by an older copy of itself', ({ log }) => renameSync(`${log}.older`, log)],
  ['the log has garbage appended', ({ log }) => writeFileSync(log, randomBytes(50_000), { flag: 'a' })],
  ['the log is removed', ({ log }) => rmSync(log)],
  ['the index of the log is removed', ({ file }) => rmSync(`${file}-shm`)],
  ['the index of the log is truncated', ({ file }) => truncateSync(`${file}-shm`)],
  ['the index of the log is overwritten with zeros', ({ file }) => overwrite(`${file}-shm`, { bytes: 136 })],
];

describe('under a running daemon, all that was acknowledged is there after a kill when', { concurrency: 3 }, () => {
  for (const [what, alter] of MENDED)
    it(what, async (t) => {
      const host = await daemon(t);
      execFileSync('cp', [host.log, `${host.log}.older`]);
      assert.equal(await host.deliver(), 200);

      alter(host);
      await until(async () => (await host.deliver()) === 200, { what: 'a delivery to be taken', ...PATIENT });
      await host.kill();

      assert.equal(await host.settled(), '');
      assert.deepEqual(host.lost(), []);
      assert.equal((await host.doctor()).status, 'ok');
    });
});

const LOST: readonly (readonly [string, (files: Daemon) => void])[] = [
  ['the log is truncated to nothing', ({ log }) => truncateSync(log)],
  ['the log is cut in half', ({ log }) => truncateSync(log, half(log))],
  ['the log is overwritten with zeros', ({ log }) => overwrite(log)],
  ['the log is overwritten with an older copy of itself', ({ log }) => copyFileSync(`${log}.older`, log)],
  ['the log is removed', ({ log }) => rmSync(log)],
];

describe('a daemon killed before it sees it is not ready, and says what is lost, when', { concurrency: 3 }, () => {
  for (const [what, alter] of LOST)
    it(what, async (t) => {
      const host = await daemon(t);
      execFileSync('cp', [host.log, `${host.log}.older`]);
      assert.equal(await host.deliver(), 200);

      await host.kill(() => alter(host));

      assert.match(await host.settled(), /^the history ends at event \d+ .*, and had come to \d+ /);
      assert.equal(await host.deliver(), 503);
      const { status, reason, fix = '' } = await host.doctor();
      assert.equal(status, 'error');
      assert.match(reason, /^the history ends at event \d+ /);
      assert.match(fix, /remove data\.sqlite\.known/);

      rmSync(`${host.file}.known`);
      await until(async () => (await host.deliver()) === 200, { what: 'what is left to be served', ...PATIENT });
      assert.equal((await host.doctor()).status, 'ok');
    });
});

const REFUSED: readonly (readonly [string, (files: Daemon) => void, RegExp])[] = [
  ['is cut in half', ({ file }) => truncateSync(file, half(file)), /was cut short while in use|damaged/],
  ['is emptied', ({ file }) => truncateSync(file), /was cut short while in use|is empty/],
  ['is overwritten in its first page', ({ file }) => overwrite(file, { bytes: 8_192 }), /was overwritten|damaged/],
  [
    'is replaced by another of the same size',
    ({ file }) => {
      writeFileSync(`${file}.other`, randomBytes(statSync(file).size));
      renameSync(`${file}.other`, file);
    },
    /was moved, removed or replaced|damaged/,
  ],
];

describe('under a running daemon, nothing more is acknowledged when the database file', { concurrency: 3 }, () => {
  for (const [what, alter, reason] of REFUSED)
    it(`${what}; after a kill it is not called whole, or it is`, async (t) => {
      const host = await daemon(t);

      alter(host);
      await until(async () => (await host.deliver()) === 503, { what: 'a refusal', ...PATIENT });
      // It may heal, as where the log still holds all that was overwritten.
      const says = (text: string): boolean => text === '' || reason.test(text);
      await until(async () => says(await host.settled()), { what: 'the reason', ...PATIENT });
      await host.kill();

      if ((await host.settled()) === '') assert.deepEqual(host.lost(), []);
      else assert.equal((await host.doctor()).status, 'error');
    });
});

describe('a start on a disk without room', { concurrency: 3 }, () => {
  for (const [what, disk, reason] of [
    ['too little is free', { minFreeBytes: 16 * 1_024 ** 4 }, /disk\.minFreeBytes asks for \d+: \d+ more are needed/],
    ['the state takes too much', { maxBytes: 64 * 1_024 ** 2 }, /the state takes \d+ bytes, disk\.maxBytes allows \d+/],
  ] as const)
    it(`is not ready, with its reason, from the first: ${what}`, async (t) => {
      const project = await portProject(t, { keys: { disk } });
      mkdirSync(project.paths.mediaDir, { recursive: true, mode: 0o700 });
      writeFileSync(join(project.paths.mediaDir, 'large'), '');
      truncateSync(join(project.paths.mediaDir, 'large'), 80 * 1_024 ** 2);

      const words = ['runtime', 'start', '--daemon', '--timeout', '3', '--json'];
      // A busy machine may need longer until the host is up: then it is asked again.
      const answers: [number | null, boolean][] = [];
      const isNamed = async () => {
        const { code, stdout } = await svc(words, { cwd: project.path });
        const { ready, reasons } = JSON.parse(stdout);
        answers.push([code, ready]);
        return code === 0 || ready || reason.test(reasons.join('; '));
      };

      await until(isNamed, { what: 'the reason' });
      assert.deepEqual(
        answers.filter(([code, ready]) => code !== 1 || ready),
        [],
      );
      assert.doesNotMatch(readFileSync(project.paths.runtimeLog, 'utf8'), /"ready":true/);
    });

  it('names what is missing for the log that a killed host has left, and needs no more', {
    skip: smallDiskMissing(),
  }, async (t) => {
    const { project, deliver, lost, file } = await hooked(t, { disk: { minFreeBytes: 1 } });
    smallDisk(t, project.paths.stateDir, { kilobytes: 24 * 1_024 });
    const start = () => startSvc(foregroundArgs(project.path).slice(1), { cwd: project.path });
    const report = () => readiness(project);
    const first = start();
    await until(async () => (await report())?.ready === true, { what: 'the host', ...PATIENT });
    for (let n = 0; n < 60; n += 1) assert.equal(await deliver('x'.repeat(20_000)), 200);
    first.child.kill('SIGKILL');
    await first.ended;
    const filler = join(project.paths.stateDir, 'filler');
    fillDisk(filler);

    const next = start();
    t.after(() => void next.child.kill('SIGKILL'));
    const missing = await until(
      async () => {
        const check = (await report())?.checks.find(({ component }) => component === 'database');
        const named = /free (\d+) bytes more where/.exec(check?.remediation ?? '')?.[1];
        return named === undefined ? undefined : Number(named);
      },
      { what: 'the amount', ...PATIENT },
    );
    assert.ok(missing <= 2 * statSync(`${file}-wal`).size + 262_144, `${missing} bytes`);
    truncateSync(filler, statSync(filler).size - missing - 4_096);

    await until(async () => (await report())?.ready === true, { what: 'readiness', ...PATIENT });
    assert.deepEqual(lost(), []);
  });
});
