// The token of a button counts where the button was sent: another place, another account and a made-up one are refused and counted.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Outgoing } from '../../../../worker/sdk/index.ts';
import { definePlugin, t } from '../../../../worker/sdk/index.ts';
import { engineHost } from '../../../support/hosts/engine-host.ts';

const A = 'root/memory:memory~a';
const B = 'root/memory:memory~b';
const vote = definePlugin({
  name: 'vote',
  setup(p) {
    const yes = p.action('yes', { data: { n: t.integer() } }, (ctx, { n }) => `yes ${n} by ${ctx.user.id}`);
    p.on('message', {}, () => ({ text: 'vote', buttons: [yes.button('yes', { n: 1 })] }));
  },
});

describe('a pressed button', () => {
  it('counts in the conversation of its account to which it was sent, and nowhere else', async (t2) => {
    const refused: string[] = [];
    const host = await engineHost(t2, {
      modules: { vote },
      config: { plugins: { memory: { endpoints: [{ id: 'a' }, { id: 'b' }] } } },
      engine: { observer: { pressRefused: (endpoint) => refused.push(endpoint) } },
    });
    await host.platform.says('x', { room: 'here' });
    await host.quiet();
    const sent = host.platform.calls[0]?.call as Extract<Outgoing, { kind: 'post' | 'edit' }>;
    const token = sent.buttons[0]?.token ?? '';
    let presses = 0;
    const press = async (room: string, { endpoint = A, token: pressed = token } = {}): Promise<void> => {
      const conversation = { id: room, kind: 'group' } as const;
      const user = { id: 'ann', name: 'ann', admin: false };
      const base = { id: `p${(presses += 1)}`, conversation, user, sentAt: 0, message: 'm1' };
      await host.platform.arrive({ ...base, kind: 'pressed', token: pressed }, endpoint);
      await host.quiet();
    };

    await press('there');
    await press('here', { endpoint: B });
    await press('here', { token: `${token}x` });
    const before = host.platform.calls.length;
    await press('here');

    assert.equal(before, 1);
    assert.deepEqual(host.platform.said('here'), ['vote', 'yes 1 by ann']);
    assert.deepEqual(refused, [A, B, A]);
    assert.deepEqual(host.states('inbox'), ['done', 'done', 'done', 'done', 'done']);
  });
});
