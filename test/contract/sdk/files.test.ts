// Files: saved ones, those that lie on a platform, and how adapters get their bytes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Arrival, type CommandInfo, defineAdapter, definePlugin, type FileRef, type PluginModule, t } from 'svc';
import { adapterBench, testBot } from 'svc/testing';
import { type EngineHost, engineHost } from '../../support/hosts/engine-host.ts';

type SetupOf = Parameters<typeof definePlugin>[0]['setup'];
const one = (setup: SetupOf): PluginModule => definePlugin({ name: 'x', setup });
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const arrivalWith = (file: FileRef): Arrival => ({
  id: 'd1',
  kind: 'message',
  message: 'm1',
  text: 'look',
  sentAt: 0,
  conversation: { id: 'dm-ann', kind: 'private' },
  user: { id: 'ann', name: 'ann', admin: false },
  files: [file],
});
const CAT: FileRef = { id: 'cat-1', name: 'cat.txt', mime: 'text/plain', bytes: 4 };

describe('a file', () => {
  it('that came with a message is read from its platform, also later and after a restart', async () => {
    const bot = await testBot(
      one((p) => {
        const file = t.object({ id: t.string(), name: t.string(), mime: t.string(), bytes: t.integer() });
        const later = p.task('later', { data: { file } }, async (ctx, data) => {
          ctx.send({ endpoint: 'fake', id: 'room' }, `later ${text(await ctx.readFile(data.file))}`);
        });
        p.on('message', {}, async (ctx, { files: [first] }) => {
          if (first === undefined) return undefined;
          ctx.schedule(later, { file: first }, { afterMs: 1_000 });
          return `now ${text(await ctx.readFile(first))}`;
        });
      }),
      { files: { 'cat-1': Buffer.from('meow') } },
    );

    await bot.arrive(arrivalWith(CAT));
    await bot.restart();
    await bot.clock.advance('1s');

    assert.deepEqual([bot.shown('dm-ann'), bot.shown('room')], [['now meow'], ['later meow']]);
  });

  it('goes as a link where the platform takes none', async () => {
    const bot = await testBot(
      one((p) =>
        p.on('message', {}, async (ctx) => ({
          text: 'here',
          files: [await ctx.saveFile('a.txt', 'text/plain', Buffer.from('a'))],
        })),
      ),
      { can: { files: { maxBytes: 0 } } },
    );

    await bot.person('ann').says('x');

    assert.match(
      bot.shown('dm-ann')[0] ?? '',
      /^here\n\[a\.txt\]\(https:\/\/bot\.example\/files\/[0-9a-f]{64}\?name=a\.txt&/,
    );
  });

  it('gets to an adapter as bytes, wherever it came from, and under its own id where it came from there', async (context) => {
    const sent: [string, string][] = [];
    const announced: (readonly CommandInfo[])[] = [];
    const adapter = defineAdapter({
      name: 'filer',
      account: {},
      can: { text: { limit: 100, unit: 'utf16', render: 'plain' }, files: { maxBytes: 1_000 } },
      connect: (link) => {
        links.push(link);
        link.online();
        return new Promise((resolve) => link.signal.addEventListener('abort', () => resolve()));
      },
      fetchFile: async ({ id }) => new Blob([`bytes of ${id}`]).stream() as never,
      announce: async (commands) => void announced.push(commands),
      async send(call, link) {
        if (call.kind !== 'post') return { kind: 'refused', reason: 'no' };
        for (const file of call.files) sent.push([file.id, text(await link.readFile(file))]);
        return { kind: 'sent' };
      },
    });
    const links: { receive(arrivals: readonly Arrival[]): Promise<void> }[] = [];
    const plugin = one((p) => {
      p.command('go', { summary: 'Goes', args: { n: t.integer() } }, () => {});
      p.command('secret', { summary: 'For operators', who: 'operator' }, () => {});
      p.on('message', {}, async (ctx, { files }) => ({
        files: [...files, await ctx.saveFile('b', '', Buffer.from('saved'))],
      }));
    });
    const host: EngineHost = await engineHost(context, { modules: { filer: adapter, x: plugin } });

    await links[0]?.receive([arrivalWith(CAT)]);
    await host.until('the send', () => host.states('outbox').join() === 'sent');
    await host.engine.runtime.reload('test');
    await host.quiet();

    assert.deepEqual(
      sent.map(([id, bytes]) => [id.slice(0, 5), bytes]),
      [
        ['cat-1', 'bytes of cat-1'],
        [sent[1]?.[0].slice(0, 5), 'saved'],
      ],
    );
    assert.match(sent[1]?.[0] ?? '', /^[0-9a-f]{64}$/);
    assert.deepEqual(
      announced.map((commands) =>
        commands.map(({ name, summary, args }) => [name, summary, Object.keys(args.properties)]),
      ),
      [[['go', 'Goes', ['n']]]],
      'once, and without those for operators',
    );
  });

  it('of a bench is what the test gives', async () => {
    const adapter = defineAdapter({
      name: 'filer',
      account: {},
      can: { text: { limit: 100, unit: 'utf16', render: 'plain' }, files: { maxBytes: 1_000 } },
      send: async (call, link) => ({
        kind: 'sent',
        message: call.kind === 'post' ? text(await link.readFile(call.files[0] ?? CAT)) : '',
      }),
    });
    const bench = adapterBench(adapter, {}, { files: { 'cat-1': Buffer.from('meow') } });
    const post = { kind: 'post', key: 'k', conversation: 'c', text: '', buttons: [], files: [CAT] } as const;

    assert.deepEqual(await bench.send(post), { kind: 'sent', message: 'meow' });
    await assert.rejects(bench.send({ ...post, files: [{ ...CAT, id: 'dog' }] }), /there is no file dog/);
  });
});
