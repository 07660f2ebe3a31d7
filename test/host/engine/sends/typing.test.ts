// The hint that an answer is being written: where the message came from, and only where the platform shows one.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../../support/accounts/memory-platform.ts';
import { engineHost } from '../../../support/hosts/engine-host.ts';

const writes = definePlugin({ name: 'writes', setup: (p) => p.on('message', {}, (ctx) => ctx.typing()) });
const ROOM = { id: 'room', kind: 'group' } as const;
const arrival = (id: string, conversation: { readonly id: string; readonly kind: 'group'; readonly thread?: string }) =>
  ({
    id,
    conversation,
    user: { id: 'ann', name: 'ann', admin: false },
    sentAt: 0,
    kind: 'message',
    message: id,
    text: 'x',
  }) as const;

describe('typing', () => {
  it('is shown in the thread of the message, or in the conversation where it is in none', async (t) => {
    const platform = new MemoryPlatform({ typing: true, threads: true });
    const host = await engineHost(t, { platform, modules: { writes } });

    await platform.arrive(arrival('1', { ...ROOM, thread: 'topic:8' }));
    await platform.arrive(arrival('2', ROOM));
    await host.quiet();

    assert.deepEqual(
      platform.calls.map(({ call: { kind, conversation, thread } }) => [kind, conversation, thread]),
      [
        ['typing', 'room', 'topic:8'],
        ['typing', 'room', undefined],
      ],
    );
  });

  it('is asked of no platform that shows none', async (t) => {
    const host = await engineHost(t, { modules: { writes } });

    await host.platform.says('x');
    await host.quiet();

    assert.deepEqual([host.platform.calls, host.states('inbox')], [[], ['done']]);
  });
});
