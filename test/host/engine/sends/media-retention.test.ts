// Saved files: kept while they are young or named, removed afterwards; what a crash left behind goes too.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { MediaFolder } from '../../../../worker/files/file-store.ts';
import { MediaRetention } from '../../../../worker/files/media-retention.ts';
import { definePlugin, t } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const DAY_MS = 86_400_000;
const FILE = t.object({ id: t.string(), name: t.string(), mime: t.string(), bytes: t.integer() });

/** Each command saves its text as a file and names it somewhere. */
const keeper = definePlugin({
  name: 'keeper',
  setup(p) {
    const kept = p.state('kept', { scope: 'plugin', value: FILE });
    const later = p.task('later', { data: { file: FILE } }, async (ctx, { file }) => void (await ctx.readFile(file)));
    const again = p.action('again', { data: { file: FILE } }, async (ctx, { file }) => void (await ctx.readFile(file)));
    p.on('message', {}, async (ctx, { text }) => {
      const file = await ctx.saveFile(`${text}.txt`, 'text/plain', Buffer.from(text));
      if (text.startsWith('state')) ctx.set(kept.at(text), file, 'any');
      if (text.startsWith('task')) ctx.schedule(later, { file }, { afterMs: 90 * DAY_MS });
      if (text.startsWith('forget')) ctx.unset(kept.at('state'));
      if (text.startsWith('send')) return { text: 'x', files: [file] };
      if (text.startsWith('button')) return { text: 'x', buttons: [again.button('again', { file })] };
      if (text.startsWith('dead')) throw new Error(`about ${file.id}`);
      return undefined;
    });
  },
});

/** In one leap: what is due on the way is not of interest here. */
async function later(host: EngineHost, ms: number): Promise<void> {
  host.clock.moveTo(host.clock.now() + ms);
  await host.quiet();
}

/** Files are written beside everything else: waits for the disk. */
async function says(host: EngineHost, text: string, id?: string): Promise<void> {
  await host.platform.says(text, id === undefined ? {} : { id });
  await host.until('the handlers', () => host.states('inbox').every((state) => state === 'done' || state === 'dead'));
  await host.quiet();
}

interface Kept {
  readonly host: EngineHost;
  readonly retention: MediaRetention;
  readonly folder: string;
  pass(): Promise<string[]>;
}

async function start(t: TestContext, most?: number): Promise<Kept> {
  const platform = new MemoryPlatform({ files: { maxBytes: 1_000 } });
  const host = await engineHost(t, { modules: { keeper }, platform });
  const folder = host.project.paths.mediaDir;
  const retention = new MediaRetention(host.core, new MediaFolder(host.core, folder), { days: () => 30, most });
  const pass = async (): Promise<string[]> => {
    await retention.run(host.clock.now());
    await later(host, 3_600_000);
    return host.rows<{ name: string }>('SELECT name FROM files ORDER BY name').map(({ name }) => name);
  };
  return { host, retention, folder, pass };
}

describe('saved files', () => {
  it('stay while they are young or anything stored names them, and go after their days', async (t) => {
    const { host, folder, pass } = await start(t);
    for (const text of ['state', 'task', 'nothing', 'again', 'send', 'button']) await says(host, text);
    await later(host, 20 * DAY_MS);
    await says(host, 'again', 'twice');
    await later(host, 11 * DAY_MS);

    const first = await pass();
    const second = await pass();
    await host.write("UPDATE outbox SET body = NULL WHERE state = 'sent'");
    await host.write('DELETE FROM buttons');
    await says(host, 'forget');
    await pass();
    const third = await pass();

    assert.deepEqual(first, ['again.txt', 'button.txt', 'nothing.txt', 'send.txt', 'state.txt', 'task.txt']);
    assert.deepEqual(second, ['again.txt', 'button.txt', 'send.txt', 'state.txt', 'task.txt']);
    assert.deepEqual(third, ['again.txt', 'forget.txt', 'task.txt']);
    assert.equal(readdirSync(folder).length, 3);
  });

  it('stay while a text far down in a long table names them', async (t) => {
    const { host, pass } = await start(t);
    await says(host, 'nothing');
    const [{ id } = { id: '' }] = host.rows<{ id: string }>('SELECT id FROM files');
    await host.write(
      `INSERT INTO cells (store, owner, key, value, revision)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
       SELECT 'keeper/x', 'o' || (i % 7), 'k' || i, CASE i WHEN 997 THEN '"${id}"' ELSE '1' END, 1 FROM n`,
    );
    await later(host, 40 * DAY_MS);

    await pass();
    assert.deepEqual(await pass(), ['nothing.txt']);
    await host.write("DELETE FROM cells WHERE key = 'k997'");
    await pass();
    assert.deepEqual(await pass(), []);
  });

  it('are all looked at in turn (MEDIA-3), however many of the oldest are named by something', async (t) => {
    const { host, pass } = await start(t, 2);
    for (const text of ['state 1', 'state 2', 'state 3', 'nothing 1', 'nothing 2', 'nothing 3']) {
      await says(host, text);
      await later(host, 1_000);
    }
    await later(host, 31 * DAY_MS);

    let left: string[] = [];
    for (let passes = 0; passes < 6; passes += 1) left = await pass();
    await host.write('DELETE FROM cells');
    for (let passes = 0; passes < 6; passes += 1) await pass();

    assert.deepEqual(left, ['state 1.txt', 'state 2.txt', 'state 3.txt']);
    assert.deepEqual(await pass(), []);
  });

  it('are all looked at in turn while others lose their names each time', async (t) => {
    const { host, pass } = await start(t, 2);
    const named = ['state 0', 'state 1'];
    for (const text of [...named, 'nothing']) {
      await says(host, text);
      await later(host, 1_000);
    }
    await later(host, 31 * DAY_MS);
    const cells = host.rows<{ key: string; value: string }>('SELECT key, value FROM cells');

    let left: string[] = [];
    for (let passes = 0; passes < 4; passes += 1) {
      for (const { key, value } of cells)
        await host.write('UPDATE cells SET value = ? WHERE key = ?', key === named[passes % 2] ? '1' : value, key);
      left = await pass();
    }

    assert.deepEqual(left, ['state 0.txt', 'state 1.txt']);
  });

  it('that a crash left without a row go after a day, and nothing else does', async (t) => {
    const { host, folder, retention } = await start(t);
    mkdirSync(folder, { recursive: true });
    const [old, young, foreign] = ['a'.repeat(64), `${'b'.repeat(64)}.77.tmp`, 'notes.txt'];
    for (const name of [old, `${old}.77.tmp`, young, foreign]) writeFileSync(join(folder, name), 'x');
    const past = (host.clock.now() - 2 * DAY_MS) / 1_000;
    const now = host.clock.now() / 1_000;
    for (const name of [old, `${old}.77.tmp`, foreign]) utimesSync(join(folder, name), past, past);
    utimesSync(join(folder, young), now, now);

    await retention.run(host.clock.now());

    assert.deepEqual(readdirSync(folder).sort(), [young, foreign].sort());
  });

  it('are not removed while they are saved again', async (t) => {
    const { host, folder } = await start(t);
    const files = new MediaFolder(host.core, folder);
    const file = { name: 'x', mime: '', bytes: Buffer.from('same') };
    const { id } = await files.save(file);
    await host.advance(1_000);

    const [, removed] = await Promise.all([files.save(file), files.remove(id, host.clock.now())]);
    assert.equal(removed, false);
    assert.equal(existsSync(join(folder, id)), true);
    await host.advance(1_000);
    assert.equal(await files.remove(id, host.clock.now()), true);
    await assert.rejects(files.read(id), /is not kept here any more/);
  });

  it('have the name and type that they were last saved with, also where their bytes were copied before', async (t) => {
    const { host, folder } = await start(t);
    const files = new MediaFolder(host.core, folder);
    const bytes = Buffer.from('cat');
    const theirs = { source: 'root/x:x~a|1', name: 'file', mime: 'application/octet-stream' };
    const id = await files.copy(theirs, () => new Blob([bytes]).stream());
    await files.save({ name: 'cat.png', mime: 'image/png', bytes });
    await files.copy({ ...theirs, source: 'root/x:x~a|2' }, () => new Blob([bytes]).stream());

    const stored = await files.open(id);
    await stored?.close();
    assert.equal(stored?.mime, 'image/png');
    assert.deepEqual(host.rows('SELECT name FROM files'), [{ name: 'cat.png' }]);
  });

  it('stay their own days where a version that knows no copies saved the bytes of one', async (t) => {
    const { host, folder } = await start(t);
    const files = new MediaFolder(host.core, folder);
    const retention = new MediaRetention(host.core, files, { days: () => 30, copyDays: () => 7 });
    const theirs = { source: 'root/x:x~a|1', name: 'x', mime: '' };
    await files.copy(theirs, () => new Blob(['x']).stream());
    await later(host, DAY_MS);
    await host.write('UPDATE files SET created_at = ?', host.clock.now());
    const left: number[] = [];
    for (const days of [20, 11]) {
      await later(host, days * DAY_MS);
      for (let passes = 0; passes < 2; passes += 1) {
        await retention.run(host.clock.now());
        await later(host, 3_600_000);
      }
      left.push(readdirSync(folder).length);
    }

    assert.deepEqual(left, [1, 0]);
  });

  it('are refused over files.maxFileBytes', async (t) => {
    const big = definePlugin({
      name: 'big',
      setup(p) {
        p.on('message', { attempts: 1 }, async (ctx) => void (await ctx.saveFile('x', '', new Uint8Array(2_000))));
      },
    });
    const host = await engineHost(t, { modules: { big }, config: { files: { maxFileBytes: 1_024 } } });
    await says(host, 'x');

    const [row] = host.rows<{ error: string }>('SELECT error FROM handler_runs');
    assert.match(row?.error ?? '', /more than files.maxFileBytes, 1024/);
  });
});
