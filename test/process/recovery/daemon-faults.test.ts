// The whole host when the disk is full, when memory runs out, when nobody reads its log any more.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { fillDisk, smallDisk, smallDiskMissing } from '../../support/disk/small-disk.ts';
import { WebhookPlatform } from '../../support/fake-platforms/webhook-platform.ts';
import { portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const noSmallDisk = smallDiskMissing();
const MIB = 1024 * 1024;
const PATIENT = { everyMs: 100 };

/** Two MiB of lines, where a pipe holds 64 KiB. */
const TALKER = `import { existsSync, rmSync } from 'node:fs';
import { definePlugin } from 'svc';
export default definePlugin({ name: 'talker', setup(p) {
  const timer = setInterval(() => {
    if (!existsSync('talk')) return;
    for (let n = 0; n < 4_000; n += 1) p.log.info({ n }, 'x'.repeat(500));
    rmSync('talk');
  }, 20);
  timer.unref();
} });
`;

const EATER = `import { existsSync, rmSync } from 'node:fs';
import { definePlugin } from 'svc';
export default definePlugin({ name: 'eater', setup(p) {
  const timer = setInterval(() => {
    if (!existsSync('eat')) return;
    rmSync('eat');
    p.log.info('the last line before memory runs out');
    const kept = [];
    for (;;) kept.push(Array.from({ length: 10_000 }, () => kept.length));
  }, 20);
  timer.unref();
} });
`;

describe('a full disk under a daemon', { skip: noSmallDisk }, () => {
  it('refuses deliveries before the database fails, through no room at all, and the log goes on', async (t) => {
    const platform = new WebhookPlatform(`whsec_${randomBytes(32).toString('base64')}`);
    await platform.listen(t);
    const project = await portProject(t, {
      keys: {
        disk: { minFreeBytes: 16 * MIB },
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        plugins: {
          webhook: { endpoints: [{ id: 'shop', url: platform.url('shop'), secrets: ['${HOOK_SECRET}'] }] },
          echo: {},
        },
      },
      env: { HOOK_SECRET: platform.secret },
    });
    const { stateDir, runtimeLog } = project.paths;
    mkdirSync(stateDir, { mode: 0o700 });
    smallDisk(t, stateDir, { kilobytes: 48 * 1024 });
    const run = (...words: string[]) => svc(['runtime', ...words], { cwd: project.path });
    const started = await run('start', '--daemon', '--json');
    assert.equal(started.code, 0, started.stderr);
    const { pid } = JSON.parse(started.stdout);
    const deliver = async (): Promise<number> => {
      const { body, headers } = platform.sign(`evt_${randomUUID()}`, {
        conversation: { id: 'c' },
        user: { id: 'u' },
        text: 'hello',
      });
      const { status } = await fetch(`${project.url}/webhooks/webhook/shop`, {
        method: 'POST',
        headers: { ...headers, connection: 'close' },
        body,
      });
      return status;
    };
    const log = () => readFileSync(runtimeLog, 'utf8');
    const reloadLines = () => log().match(/generation committed/g)?.length ?? 0;
    assert.equal(await deliver(), 200);

    writeFileSync(join(stateDir, 'filler'), Buffer.alloc(36 * MIB));
    await until(async () => (await deliver()) === 503, { what: 'a refusal', ...PATIENT });
    assert.match(log(), /"msg":"disk budget is used up: ingress is refused"/);
    assert.doesNotMatch(log(), /SQLITE_FULL|storage_full/);
    const { status: readiness } = await fetch(`${project.url}/pub/ready`);
    assert.equal(readiness, 503);
    const lines = reloadLines();
    assert.equal((await run('reload')).code, 1, 'a new generation, and not ready still');
    assert.ok(reloadLines() > lines, 'the log goes on');

    fillDisk(join(stateDir, 'filler-of-the-rest'));
    for (let n = 0; n < 50; n += 1) assert.equal(await deliver(), 503);
    await run('reload');
    assert.equal(JSON.parse((await run('status', '--json')).stdout).pid, pid);

    for (const name of ['filler', 'filler-of-the-rest']) rmSync(join(stateDir, name));
    await until(async () => (await deliver()) === 200, { what: 'deliveries to be taken again', ...PATIENT });
    await until(() => log().includes('disk has room again'), { what: 'the line about it', ...PATIENT });
    await until(async () => (await run('status')).code === 0, { what: 'readiness', ...PATIENT });
    const status = JSON.parse((await run('status', '--json')).stdout);
    assert.deepEqual([status.pid, status.exits], [pid, []]);
    assert.equal(
      log()
        .split('\n')
        .slice(0, -1)
        .every((line) => JSON.parse(line) !== undefined),
      true,
    );
  });
});

describe('memory that runs out under a daemon', () => {
  it('is told as what it was, counted, and got over; last words are kept', async (t) => {
    const project = await portProject(t, {
      keys: { plugins: { sandbox: {}, eater: { use: './plugins/eater.mjs' } } },
      plugins: { 'eater.mjs': EATER },
    });
    const run = (...words: string[]) =>
      svc(['runtime', ...words], { cwd: project.path, env: { NODE_OPTIONS: '--max-old-space-size=80' } });
    const started = await run('start', '--daemon', '--json');
    assert.equal(started.code, 0, started.stderr);

    writeFileSync(join(project.path, 'eat'), '');
    const status = await until(
      async () => {
        const now = JSON.parse((await run('status', '--json')).stdout);
        return now.exits.length === 1 && now.ready ? now : undefined;
      },
      { what: 'the next worker', ...PATIENT },
    );

    const [exit] = status.exits;
    assert.deepEqual([exit.signal, exit.reason, exit.wasUp], ['SIGABRT', 'crashed', true]);
    assert.match(exit.detail, /^FATAL ERROR: .*heap out of memory/);
    assert.match(exit.lastLines.join('\n'), /the last line before memory runs out[\s\S]*FATAL ERROR/);
    assert.equal(status.budget.left, status.budget.limit - 2);
    const log = readFileSync(project.paths.runtimeLog, 'utf8');
    assert.match(
      log,
      /the last line before memory runs out[\s\S]*FATAL ERROR[\s\S]*"msg":"worker ended"[\s\S]*"worker up"/,
    );
    assert.match((await run('status')).stdout, /crashed.*FATAL ERROR/);
    const metrics = await fetch(`${project.url}/api/metrics`, {
      headers: { authorization: `Bearer ${project.token}` },
    });
    assert.match(await metrics.text(), /svc_restarts_total\{[^}]*reason="crashed"[^}]*\} 1/);
  });
});

describe('a foreground host whose output nobody reads any more', () => {
  for (const [how, leave] of [
    ['the reader is gone', (stream: Readable | null) => stream?.destroy()],
    ['the reader stands still', (stream: Readable | null) => stream?.pause()],
  ] as const) {
    it(`goes on, and ends when it is asked to: ${how}`, async (t) => {
      const project = await portProject(t, {
        keys: { plugins: { sandbox: {}, talker: { use: './plugins/talker.mjs' } } },
        plugins: { 'talker.mjs': TALKER },
      });
      const host = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: project.path });
      t.after(() => void host.child.kill('SIGKILL'));
      await until(() => host.output().includes('worker up'), { what: 'the host', ...PATIENT });

      leave(host.child.stdout);
      writeFileSync(join(project.path, 'talk'), '');
      await until(() => !existsSync(join(project.path, 'talk')), { what: 'many lines', ...PATIENT });
      await until(async () => (await fetch(`${project.url}/pub/ready`)).status === 200, {
        what: 'readiness',
        ...PATIENT,
      });
      host.child.kill('SIGTERM');

      const code = await new Promise((resolve) => host.child.once('exit', resolve));
      assert.equal(code, 0);
    });
  }
});
