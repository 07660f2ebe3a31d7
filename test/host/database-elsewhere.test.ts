// A database on a disk of its own: it is that disk whose room is asked for before SQLite fails there.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { smallDisk, smallDiskMissing } from '../support/disk/small-disk.ts';
import { running } from '../support/hosts/app-host.ts';
import { until } from '../support/until.ts';

describe('a database on another disk', { skip: smallDiskMissing() }, () => {
  it('is counted, and what comes in is refused while that disk has too little room', async (t) => {
    const disk = mkdtempSync(join(tmpdir(), 'svc-elsewhere-'));
    smallDisk(t, disk, { kilobytes: 64 * 1024 });
    t.after(() => rmSync(disk, { recursive: true }));
    const filler = join(disk, 'filler');
    const database = { dialect: 'sqlite', filename: join(disk, 'data.sqlite') };
    const host = await running(t, { config: { database, disk: { minFreeBytes: 40 * 1024 * 1024 } } });
    const say = (): ReturnType<typeof host.call> =>
      host.call('POST', '/api/chat/say', { person: 'ann', text: 'hi', delivery: randomUUID() });
    assert.equal((await say()).status, 202);

    // What is left is plenty for what comes in until the host has looked: the log of SQLite alone may take 4 MiB.
    writeFileSync(filler, Buffer.alloc(32 * 1024 * 1024));
    const refused = await until(
      async () => {
        const answer = await say();
        return answer.status === 202 ? undefined : answer;
      },
      { what: 'the refusal', everyMs: 50 },
    );
    const unready = await host.call('GET', '/api/system/readiness');
    rmSync(filler);
    await until(async () => (await say()).status === 202, { what: 'room again' });

    assert.deepEqual([refused.status, refused.json['code']], [503, 'disk_budget']);
    assert.equal(unready.status, 503);
    assert.match(unready.text, /bytes are free where the database lies, disk\.minFreeBytes asks for/);
    await host.app.stop(2_000); // before its disk is gone
  });
});
