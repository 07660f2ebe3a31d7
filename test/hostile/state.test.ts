// The files of the database are truncated, overwritten, replaced or removed while the built host runs. Whatever was acknowledged is there after a kill and
// a start; or the host is not ready and says what is lost, and `svc doctor` does not call the database whole.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import type { ReadinessReport } from '../../shared/api/readiness.ts';
import { Sqlite } from '../../shared/sqlite.ts';
import { WebhookPlatform } from '../support/fake-platforms/webhook-platform.ts';
import { portProject, svc } from '../support/svc-command.ts';
import type { Cleanup } from '../support/temporary-project.ts';
import { until } from '../support/until.ts';

const PATIENT = { timeoutMs: 60_000, everyMs: 50 };
const ACKNOWLEDGED = 7;

/** Writes over a part of the file, which keeps its size. */
function overwrite(file: string, { at = 0, ...some }: { at?: number; bytes?: number } = {}): void {
  const { bytes = statSync(file).size - at } = some;
  execFileSync('dd', [
    'if=/dev/zero',
    `of=${file}`,
    'bs=1',
    `seek=${at}`,
    `count=${bytes}`,
    'conv=notrunc',
    'status=none',
  ]);
}

const half = (file: string): number => Math.floor(statSync(file).size / 2);

async function daemon(t: Cleanup) {
  const platform = new WebhookPlatform(`whsec_${randomBytes(32).toString('base64')}`);
  const project = await portProject(t, {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    keys: { plugins: { webhook: { endpoints: [{ id: 'shop', secrets: ['${HOOK_SECRET}'] }] } } },
    env: { HOOK_SECRET: platform.secret },
  });
  const file = join(project.paths.stateDir, 'data.sqlite');
  const run = (...words: string[]) => svc(words, { cwd: project.path });
  const acknowledged: string[] = [];

  const deliver = async (): Promise<number> => {
    const id = `evt_${randomUUID()}`;
    const { body, headers } = platform.sign(id, { conversation: { id: 'c' }, user: { id: 'u' }, text: 'hello' });
    const answer = await fetch(`${project.url}/webhooks/webhook/shop`, {
      method: 'POST',
      headers: { ...headers, connection: 'close' },
      body,
    }).catch(() => undefined);
    if (answer?.status === 200) acknowledged.push(id);
    return answer?.status ?? 0;
  };
  const status = async () => JSON.parse((await run('runtime', 'status', '--json')).stdout);
  const report = async (): Promise<ReadinessReport | undefined> => {
    const answer = await fetch(`${project.url}/api/system/readiness`, {
      headers: { authorization: `Bearer ${project.token}` },
    }).catch(() => undefined);
    return answer === undefined ? undefined : ((await answer.json()) as ReadinessReport);
  };
  const said = async (): Promise<string | undefined> => {
    const now = await report();
    if (now === undefined || now.state === 'starting') return undefined;
    return now.ready ? '' : now.checks.find(({ component }) => component === 'database')?.reason;
  };

  const started = await run('runtime', 'start', '--daemon', '--json');
  assert.equal(started.code, 0, started.stderr);
  for (let n = 0; n < ACKNOWLEDGED; n += 1) assert.equal(await deliver(), 200);

  return {
    file,
    log: `${file}-wal`,
    deliver,
    status,
    said,
    acknowledged,
    /** SIGKILL, in the middle of whatever it does; `first` is done while it stands still. */
    async kill(first: () => void = () => {}): Promise<void> {
      const { pid } = await status();
      process.kill(pid, 'SIGSTOP');
      first();
      process.kill(pid, 'SIGKILL');
      await until(async () => ![null, pid].includes((await status()).pid), { what: 'the next worker', ...PATIENT });
    },
    /** Undefined while it is not known: ready is the empty text, else why the database is not. */
    async settled(): Promise<string> {
      return until(async () => said(), { what: 'a report on readiness', ...PATIENT }).then(String);
    },
    doctor: async (): Promise<{ status: string; reason: string; fix?: string }> => {
      const { stdout } = await run('doctor', '--only', 'database.integrity', '--json');
      return JSON.parse(stdout).checks[0];
    },
    /** Of what was acknowledged, what a copy of the files has not. */
    lost(): string[] {
      const folder = mkdtempSync(join(dirname(file), 'copy-'));
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
