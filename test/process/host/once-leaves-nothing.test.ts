// What is left of `svc runtime start --once --mode test`: nothing.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { removeLive } from '../../support/disk/remove-live.ts';
import { contents, once, setup } from '../../support/once.ts';
import { freePort, portProject, svc } from '../../support/svc-command.ts';

const AT_ONCE = 6;
const TIMEOUT = { timeout: 180_000 };

/** Processes whose folder this is (Linux). */
const processesIn = (folder: string): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === folder;
    } catch {
      return false; // it is gone, or not ours
    }
  });

describe('--once leaves nothing', { concurrency: 3 }, () => {
  it('in a fresh project, and needs no port', async (t) => {
    const port = await freePort();
    const { path } = await portProject(t, { keys: { http: { port, token: '${HTTP_TOKEN}' } } });
    const holder = createServer().listen(port, '127.0.0.1');
    t.after(() => holder.close());
    const before = contents(path);

    const { code, stderr } = await once(path);

    assert.equal(code, 0, stderr);
    assert.equal(contents(path), before);
  });

  it(`of ${AT_ONCE} at once beside a running daemon, which goes on undisturbed (51)`, TIMEOUT, async (t) => {
    const scratch = mkdtempSync(join(tmpdir(), 'svc-once-'));
    t.after(() => removeLive(scratch));
    const { path, url, token } = await portProject(t, {
      plugins: {
        'own.ts': `import { definePlugin } from 'svc';\n${setup("p.resource('store', async () => 1, () => {});")}`,
        'own.js': `import { definePlugin } from 'svc';\n${setup('')}`,
      },
      keys: { plugins: { sandbox: {}, echo: {}, own: { use: './plugins/own' } } },
    });
    const started = await svc(['runtime', 'start', '--daemon'], { cwd: path });
    assert.equal(started.code, 0, started.stderr);
    const status = async () => {
      const { code, stdout } = await svc(['runtime', 'status', '--json'], { cwd: path });
      const { pid, supervisorPid, runtimeId, generation, ready } = JSON.parse(stdout);
      return { code, pid, supervisorPid, runtimeId, generation, ready };
    };
    const before = await status();
    const files = contents(path, VOLATILE);
    // Of every kind: a socket is no file that has contents.
    const entries = (): readonly string[] =>
      readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => !/^node_modules\b|-wal$|-shm$/.test(name))
        .sort();
    const names = entries();

    const writes: number[] = [];
    const pause = async (): Promise<void> => void writes.push(await writeSomething(url, token));
    const all = await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        await pause();
        const ended = await once(path, { TMPDIR: scratch });
        await pause();
        return ended;
      }),
    );

    for (const { code, report, stderr } of all) {
      assert.equal(code, 0, stderr);
      assert.deepEqual([report.ok, report.database?.state], [true, 'current']);
    }
    assert.equal(contents(path, VOLATILE), files);
    assert.deepEqual(entries(), names);
    assert.deepEqual(readdirSync(scratch), []);
    assert.deepEqual(await status(), before);
    if (process.platform === 'linux')
      assert.deepEqual(new Set(processesIn(path).map(Number)), new Set([before.pid, before.supervisorPid]));
    assert.deepEqual([...new Set(writes)], [200]);
    assert.equal((await svc(['runtime', 'stop'], { cwd: path })).code, 0);
    assert.deepEqual(
      readdirSync(join(path, '.svc')).filter((name) => /-wal$|-shm$/.test(name)),
      [],
    );
  });
});

/** The running worker stores something; its answer says whether it could. */
async function writeSomething(url: string, token: string): Promise<number> {
  const { status } = await fetch(`${url}/api/system/ingress`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ state: 'paused', reason: randomUUID() }),
  });
  return status;
}

/** What the daemon itself goes on writing. */
const VOLATILE = /\.log$|-wal$|-shm$|\.known$|\.json$/;
