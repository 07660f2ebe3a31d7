// A checkpoint of a running host is counted and searched beside its copy, by another process: both are of one moment.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { SecretRegistry } from '../../../shared/log/redaction.ts';
import { CHECKPOINT_FILES, checkpointFolder } from '../../../shared/recovery/layout.ts';
import { copyDatabase } from '../../../worker/recovery/checkpoint/copy-database.ts';
import { examineDatabase } from '../../../worker/recovery/checkpoint/examine-database.ts';
import { makeRunning, type RunningOptions } from '../../../worker/recovery/checkpoint/make-running.ts';
import { type CopyHost, copyHost } from '../../support/recovery/copy-host.ts';

const SECRET = 'a-secret-of-the-project-0815';
const MOST_LOG_BYTES = 2 ** 30;

const running = ({ host, file, folder }: CopyHost, values: readonly string[] = []): RunningOptions => ({
  project: dirname(folder),
  database: file,
  reason: null,
  zone: 'UTC',
  config: { version: 'v', isRunning: true },
  secrets: { named: [], values },
  key: Buffer.alloc(32).toString('base64url'),
  without: [],
  now: Date.now,
  writer: host,
  maxLogBytes: MOST_LOG_BYTES,
  signal: new AbortController().signal,
});

describe('a checkpoint of a running host', () => {
  it('has a manifest that says what its copy holds, while units are committed', async (t) => {
    const host = await copyHost(t);
    const stop = host.load();
    const made = [];
    for (let n = 0; n < 2; n += 1) made.push((await makeRunning(running(host))).manifest);
    await stop();

    for (const manifest of made) {
      const copy = join(checkpointFolder(dirname(host.folder), manifest.name), CHECKPOINT_FILES.database);
      const { rows, events } = examineDatabase(copy, new SecretRegistry());
      assert.deepEqual(manifest.database.rows, rows);
      assert.deepEqual(manifest.events, events);
    }
    assert.ok((made[0]?.events.head ?? 0) < (made[1]?.events.head ?? 0), 'units were committed meanwhile');
  });

  it('counts the values that hold a secret', async (t) => {
    const host = await copyHost(t);
    await host.host.commit({
      name: 'test',
      statements: [
        { sql: 'INSERT INTO meta (key, value) VALUES (?, ?)', parameters: ['said', `it is ${SECRET}`] },
        {
          sql: 'INSERT INTO meta (key, value) VALUES (?, ?)',
          parameters: ['hex', Buffer.from(SECRET).toString('hex')],
        },
      ],
    });

    const { secretHits } = await makeRunning(running(host, [SECRET]));

    assert.equal(secretHits, 2);
  });

  it('examines the finished copy where the database takes too long', async (t) => {
    const host = await copyHost(t);
    for (let n = 0; n < 50; n += 1) await host.put();

    const { manifest } = await makeRunning({ ...running(host), longestExaminationMs: 0 });

    const copy = join(checkpointFolder(dirname(host.folder), manifest.name), CHECKPOINT_FILES.database);
    assert.deepEqual(manifest.database.rows, examineDatabase(copy, new SecretRegistry()).rows);
    await host.put(); // nothing holds the writer
  });

  it('keeps the log until whoever else reads the moment has ended', async (t) => {
    const host = await copyHost(t);
    const done: string[] = [];
    await copyDatabase({
      file: host.file,
      target: join(host.folder, 'copy.sqlite'),
      hold: (work) => host.host.hold(work),
      pin: async () => {
        const pin = await host.host.pinLog({ maxBytes: MOST_LOG_BYTES });
        return { ...pin, release: () => (done.push('released'), pin.release()) };
      },
      otherReader: async () => {
        done.push('asked');
        for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        done.push('ended');
      },
    });

    assert.deepEqual(done.slice(0, 3), ['asked', 'ended', 'released']);
  });
});
