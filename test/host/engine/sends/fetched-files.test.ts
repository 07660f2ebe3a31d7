// Copies of files that lie on a platform: made by the first who reads them, read by everybody since, gone with the texts of messages.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import promises, { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { SvcError } from '../../../../shared/svc-error.ts';
import { FileSource } from '../../../../worker/files/file-source.ts';
import { MediaFolder } from '../../../../worker/files/file-store.ts';
import { MediaRetention } from '../../../../worker/files/media-retention.ts';
import { type Arrival, defineAdapter, definePlugin, type FileRef, type Link, t } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const DAY_MS = 86_400_000;
const FILE = t.object({ id: t.string(), name: t.string(), mime: t.string(), bytes: t.integer() });
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');

interface Platform {
  readonly host: EngineHost;
  /** Contents by the platform's id. */
  readonly files: Map<string, string>;
  /** What was fetched, in order. */
  readonly fetched: string[];
  /** Awaited before a file comes. */
  gate: Promise<void>;
  /** Throws while there is no room. */
  room: () => void;
  /** Somebody sends that file with these words to the account. */
  sends(words: string, file: string, account?: string): Promise<void>;
  read(): readonly string[];
  kept(): readonly string[];
  /** Days pass, and then two passes over the files. */
  pass(days: number): Promise<void>;
}

async function platformAt(test: TestContext): Promise<Platform> {
  const links = new Map<string, Link<unknown>>();
  const read: string[] = [];
  const adapter = defineAdapter({
    name: 'filer',
    account: {},
    can: { text: { limit: 100, unit: 'utf16', render: 'plain' }, files: { maxBytes: 1_000 } },
    connect: (link) => {
      links.set(link.endpoint, link);
      link.online();
      return new Promise((resolve) => link.signal.addEventListener('abort', () => resolve()));
    },
    fetchFile: async ({ id }) => {
      platform.fetched.push(id);
      await platform.gate;
      const content = platform.files.get(id);
      if (content === undefined) throw new Error(`${id} is gone`);
      return new Blob([content]).stream();
    },
    send: async () => ({ kind: 'sent' }),
  });
  const reader = definePlugin({
    name: 'reader',
    setup(p) {
      const kept = p.state('kept', { scope: 'plugin', value: FILE });
      p.on('message', { attempts: 3 }, async (ctx, { text, files: [file] }) => {
        if (file === undefined) return;
        const bytes = await ctx.readFile(file);
        read.push(Buffer.from(bytes).toString());
        if (text === 'again' && ctx.item.attempt === 1) throw new Error('once more');
        if (text === 'dead') throw new Error('never');
        if (text === 'keep') ctx.set(kept.at(file.id), file, 'any');
        if (text === 'save') await ctx.saveFile(file.name, file.mime, bytes);
      });
    },
  });
  const host = await engineHost(test, {
    modules: { filer: adapter, reader },
    config: { plugins: { filer: { endpoints: [{ id: 'a' }, { id: 'b' }] } } },
    engine: { admit: () => platform.room() },
  });
  const folder = host.project.paths.mediaDir;
  const media = new MediaFolder(host.core, folder);
  const retention = new MediaRetention(host.core, media, { days: () => 30, copyDays: () => 7 });
  let deliveries = 0;
  const platform: Platform = {
    host,
    files: new Map(),
    fetched: [],
    gate: Promise.resolve(),
    room: () => {},
    async sends(words, id, account = 'a') {
      const file: FileRef = { id, name: `${id}.txt`, mime: 'text/plain', bytes: 0 };
      const arrival: Arrival = {
        id: `d${(deliveries += 1)}`,
        kind: 'message',
        message: `m${deliveries}`,
        text: words,
        sentAt: 0,
        conversation: { id: `dm-${deliveries}`, kind: 'private' },
        user: { id: 'ann', name: 'ann', admin: false },
        files: [file],
      };
      await links.get(`root/filer:filer~${account}`)?.receive([arrival]);
    },
    read: () => read,
    kept: () => {
      const rows = host.rows<{ id: string }>('SELECT id FROM files ORDER BY id').map(({ id }) => id);
      assert.deepEqual(readdirSync(folder).toSorted(), rows, 'what lies on the disk is what the rows say');
      return rows;
    },
    async pass(days) {
      host.clock.moveTo(host.clock.now() + days * DAY_MS);
      for (let passes = 0; passes < 2; passes += 1) {
        await retention.run(host.clock.now());
        host.clock.moveTo(host.clock.now() + 3_600_000);
      }
    },
  };
  return platform;
}

const handled = (host: EngineHost): Promise<unknown> =>
  host.until('the handlers', () => host.states('inbox').every((state) => state === 'done' || state === 'dead'));

/** What waits for another attempt gets it, until nothing does. Files are written beside the clock: it stays below the limit of a handler. */
async function retried(host: EngineHost): Promise<void> {
  const has = (...states: readonly string[]): boolean => host.states('inbox').some((state) => states.includes(state));
  const isQuiet = (): boolean => !has('received', 'handling');
  await host.until('the attempts', isQuiet);
  while (has('waiting')) {
    await host.advance(10_000);
    await host.until('the attempts', isQuiet);
  }
}

/** Of a clock that files are written beside. */
const MOST_STEPS = 2_500;
interface Broken {
  refusals(): number;
  mend(): void;
}
const OUR_FAILURES: Readonly<Record<string, (test: TestContext, platform: Platform) => Promise<Broken>>> = {
  'the disk is low': async (_, platform) => {
    let refusals = 0;
    platform.room = () => {
      if (platform.fetched.length === 0) return; // first while the file is on its way
      refusals += 1;
      throw new SvcError('disk_budget', 'no room');
    };
    return { refusals: () => refusals, mend: () => void (platform.room = () => {}) };
  },
  'the disk is full': async (test) => {
    const file = await open(new URL(import.meta.url));
    const refused = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    const kind = Object.getPrototypeOf(file) as FileHandle;
    const { mock } = test.mock.method(kind, 'writeFile', () => Promise.reject(refused));
    await file.close();
    return { refusals: () => mock.callCount(), mend: () => mock.restore() };
  },
  'no descriptor is free': async (test) => {
    const refused = Object.assign(new Error('too many open files'), { code: 'EMFILE' });
    const { mock } = test.mock.method(promises, 'open', () => Promise.reject(refused));
    syncBuiltinESMExports();
    const mend = (): void => {
      mock.restore();
      syncBuiltinESMExports();
    };
    test.after(mend);
    return { refusals: () => mock.callCount(), mend };
  },
};

describe('a file of a platform', () => {
  it('is fetched once for all who read it, and a later attempt needs no platform', async (test) => {
    const platform = await platformAt(test);
    const { host, files, fetched } = platform;
    files.set('cat', 'meow');
    let open: () => void = () => {};
    platform.gate = new Promise((resolve) => {
      open = resolve;
    });

    await platform.sends('x', 'cat');
    await platform.sends('again', 'cat');
    await host.until('the fetch', () => fetched.length === 1);
    open();
    await host.until('both', () => platform.read().length === 2);
    files.clear();
    await host.until('the wait', () => host.states('inbox').includes('waiting'));
    await retried(host);

    assert.deepEqual([platform.read(), fetched], [['meow', 'meow', 'meow'], ['cat']]);
    assert.deepEqual(platform.kept(), [digestOf('meow')]);
  });

  it('is another one at another account, and fetched anew where its copy is lost', async (test) => {
    const platform = await platformAt(test);
    const { host, files, fetched } = platform;
    files.set('1', 'first');
    await platform.sends('x', '1');
    await handled(host);
    files.set('1', 'second');
    await platform.sends('x', '1', 'b');
    await handled(host);
    rmSync(join(host.project.paths.mediaDir, digestOf('first')));
    files.set('1', 'third');
    await platform.sends('x', '1');
    await handled(host);

    assert.deepEqual(
      [platform.read(), fetched],
      [
        ['first', 'second', 'third'],
        ['1', '1', '1'],
      ],
    );
  });

  it('that fails on its way leaves nothing', async (test) => {
    const platform = await platformAt(test);
    const { host, files } = platform;
    await platform.sends('x', 'cat');
    await host.until('the failure', () => host.states('inbox').includes('waiting'));
    const onWay = readdirSync(host.project.paths.mediaDir);
    const [row] = host.rows<{ error: string }>('SELECT error FROM handler_runs');
    files.set('cat', 'meow');
    await retried(host);

    assert.match(row?.error ?? '', /cat is gone/);
    assert.deepEqual([onWay, platform.read()], [[], ['meow']]);
  });

  for (const [name, breakIt] of Object.entries(OUR_FAILURES))
    it(`uses up no attempt and leaves nothing, however often it is read, while ${name}`, async (test) => {
      const platform = await platformAt(test);
      const { host, files } = platform;
      files.set('cat', 'meow');
      const broken = await breakIt(test, platform);
      await platform.sends('x', 'cat');
      for (let steps = 0; steps < MOST_STEPS && broken.refusals() < 5; steps += 1) await host.advance(10);
      await host.until('the last of them', () => readdirSync(host.project.paths.mediaDir).length === 0);
      const during = host.rows('SELECT state, attempts, last_error FROM inbox');
      broken.mend();
      const onWay = readdirSync(host.project.paths.mediaDir);
      for (let steps = 0; steps < MOST_STEPS && host.states('inbox').includes('handling'); steps += 1)
        await host.advance(10);

      assert.deepEqual([during, onWay], [[{ state: 'handling', attempts: 1, last_error: null }], []]);
      assert.deepEqual([host.states('inbox'), platform.read()], [['done'], ['meow']]);
    });

  it('goes with the texts of messages, unless it was saved or something that is stored names it as its platform does', async (test) => {
    const platform = await platformAt(test);
    const { host, files } = platform;
    const texts = ['plain', 'keep', 'dead', 'save'];
    for (const text of texts) {
      files.set(`"${text}"\\1`, text);
      await platform.sends(text, `"${text}"\\1`);
    }
    await host.until('the first attempts', () => platform.read().length >= texts.length);
    await retried(host);
    const after = async (days: number): Promise<readonly string[]> => {
      await platform.pass(days);
      return texts.filter((text) => platform.kept().includes(digestOf(text)));
    };

    assert.deepEqual(await after(6), texts);
    assert.deepEqual(await after(1), ['keep', 'dead', 'save']);
    assert.deepEqual(await after(23), ['keep', 'dead']);
    await host.write('DELETE FROM cells');
    await host.write("UPDATE inbox SET state = 'done' WHERE state = 'dead'");
    assert.deepEqual(await after(0), []);
    assert.deepEqual(host.rows('SELECT * FROM fetched_files'), []);
  });

  for (const when of ['before it begins', 'on its way'])
    it(`that goes silent ${when} is given up, so that the next one who reads it gets it`, async (test) => {
      const { host } = await platformAt(test);
      const cancelled: string[] = [];
      let come: (stream: ReadableStream<Uint8Array>) => void = () => {};
      const silent = new ReadableStream<Uint8Array>({
        start: (control) => control.enqueue(Buffer.from('me')),
        cancel: () => void cancelled.push('cancelled'),
      });
      const streams = [
        when === 'on its way' ? Promise.resolve(silent) : new Promise<typeof silent>((resolve) => (come = resolve)),
        Promise.resolve(new Blob(['meow']).stream()),
      ];
      const source = new FileSource({
        store: new MediaFolder(host.core, host.project.paths.mediaDir),
        limit: () => 1_000,
        room: () => {},
        fetch: () => streams.shift() ?? Promise.reject(new Error('fetched once more')),
        idleMs: 500,
      });
      const read = (): Promise<Uint8Array> =>
        source.read({ id: 'cat', name: 'cat.txt', mime: '', bytes: 0 }, 'root/filer:filer~a');
      const [first, second] = await Promise.allSettled([read(), read()]);
      come(silent);
      await host.until('the cancel', () => cancelled.length === 1);

      assert.match(String(first.status === 'rejected' && first.reason), /nothing of the file cat\.txt for 500 ms/);
      assert.equal(second.status === 'fulfilled' && Buffer.from(second.value).toString(), 'meow');
    });
});
