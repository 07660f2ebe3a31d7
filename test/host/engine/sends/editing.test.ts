// Messages that are changed after they were sent: what people see in the end is what one of the edits said, whole.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, type MessageRef, t as schema } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const LONG = 'aaaaaaaa bbbbbbbb cccccccc';
const LONGER = 'dddddddd eeeeeeee ffffffff gggggggg';

/** Keeps one message; `edit:<text>` changes it once both of two such handlers are there. */
function board(): { readonly plugin: ReturnType<typeof definePlugin>; readonly let: () => void } {
  let go = (): void => {};
  const both = new Promise<void>((resolve) => {
    go = resolve;
  });
  const plugin = definePlugin({
    name: 'board',
    setup(p) {
      const kept = p.state('message', { scope: 'plugin', value: schema.object({ ref: schema.message() }) });
      p.on('message', { text: /^open:(?<text>.*)/ }, (ctx) => {
        ctx.set(kept.at('one'), { ref: ctx.reply(ctx.groups['text'] ?? '') }, 'any');
      });
      p.on('message', { text: /^edit:(?<text>.*)/ }, async (ctx) => {
        const message: MessageRef | undefined = (await ctx.get(kept.at('one')))?.ref;
        await both;
        if (message !== undefined) ctx.edit(message, ctx.groups['text'] ?? '');
      });
    },
  });
  return { plugin, let: () => go() };
}

/** What a platform shows that knows which of its messages are gone. */
function screen(platform: MemoryPlatform): { readonly shown: () => string[] } {
  const messages = new Map<string, string>();
  let next = 0;
  platform.answer = (call) => {
    if (call.kind === 'post') {
      next += 1;
      messages.set(`m${next}`, call.text);
      return { kind: 'sent', message: `m${next}` };
    }
    const id = 'message' in call ? call.message : '';
    if (!messages.has(id)) return { kind: 'refused', reason: 'message not found' };
    if (call.kind === 'edit') messages.set(id, call.text);
    if (call.kind === 'remove') messages.delete(id);
    return { kind: 'sent' };
  };
  return { shown: () => [...messages.values()] };
}

const partsOf = (text: string): string[] => text.split(' ');

async function editedAtOnce(host: EngineHost, first: string, second: string, go: () => void): Promise<void> {
  await host.platform.says(`edit:${first}`, { from: 'bob' });
  await host.platform.says(`edit:${second}`, { from: 'cai' });
  go();
  await host.quiet();
}

describe('two edits of one message at once', () => {
  for (const [first, second] of [
    ['x', LONG.replaceAll('a', 'z')],
    [LONGER, 'y'],
    ['x', LONGER],
  ] as const)
    it(`show one of them whole: ${first.length} and ${second.length} characters`, async (t) => {
      const platform = new MemoryPlatform({ text: { limit: 8, unit: 'utf16', render: 'plain' } });
      const { shown } = screen(platform);
      const { plugin, let: go } = board();
      const host = await engineHost(t, { platform, modules: { board: plugin } });
      await platform.says(`open:${LONG}`);
      await host.quiet();
      assert.deepEqual(shown(), partsOf(LONG));

      await editedAtOnce(host, first, second, go);

      const seen = shown();
      assert.ok(
        [first, second].some((text) => partsOf(text).join() === seen.join()),
        `shown: ${seen.join(' | ')}`,
      );
      assert.deepEqual(
        host.states('outbox').filter((state) => state !== 'sent'),
        [],
      );
    });
});
