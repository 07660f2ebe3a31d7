// A project that was copied while its host ran (cp -a, a snapshot that is put elsewhere): the records in the copy speak of the host of the original.
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { removeLive } from '../../support/disk/remove-live.ts';
import { freePort, portProject, startSvc, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const FOREGROUND = ['runtime', 'start', '--mode', 'production', '--no-watch'];
/** Only Linux tells in which folder a process works. */
const skip = process.platform !== 'linux';

for (const owner of ['daemon', 'foreground'] as const)
  it(`starts beside the ${owner} of the original, and names nobody of it as its own`, { skip }, async (t) => {
    const { url, path } = await portProject(t, { keys: { plugins: { sandbox: {} } } });
    if (owner === 'daemon') assert.equal((await svc(['runtime', 'start', '--daemon'], { cwd: path })).code, 0);
    else startSvc(FOREGROUND, { cwd: path });
    await until(async () => (await fetch(`${url}/pub/ready`)).ok, { what: 'the original to be ready' });
    const copy = mkdtempSync(join(tmpdir(), 'svc-copied-'));
    t.after(async () => {
      await svc(['runtime', 'stop'], { cwd: copy });
      removeLive(copy);
    });
    cpSync(path, copy, { recursive: true, filter: (file) => !file.endsWith('.sock'), verbatimSymlinks: true });
    const config = readFileSync(join(copy, 'svc.config.yml'), 'utf8');
    writeFileSync(join(copy, 'svc.config.yml'), config.replace(new URL(url).port, String(await freePort())));

    const status = await svc(['runtime', 'status'], { cwd: copy });
    const stop = await svc(['runtime', 'stop'], { cwd: copy });
    const start = await svc(['runtime', 'start', '--daemon'], { cwd: copy });

    assert.deepEqual([status.code, stop.code, start.code], [3, 0, 0], JSON.stringify([status, stop, start]));
    assert.equal((await fetch(`${url}/pub/ready`)).status, 200);
  });
