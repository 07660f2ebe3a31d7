// Sends that their platform puts off, and accounts that it tells to wait or refuses.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { accountFailed, definePlugin } from '../../../../worker/sdk/index.ts';
import { engineHost, type HostOptions } from '../../../support/hosts/engine-host.ts';

const A = 'root/memory:memory~a';
const B = 'root/memory:memory~b';
const echo = definePlugin({
  name: 'echo',
  setup(p) {
    p.on('message', {}, (_ctx, event) => `re ${event.text}`);
  },
});
const TWO: HostOptions = {
  modules: { echo },
  config: { plugins: { memory: { endpoints: [{ id: 'a' }, { id: 'b' }] } } },
};

describe('a send that is put off', () => {
  it('has as long as for other failures where a platform keeps saying that it is soon', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    const wellAgainAt = host.clock.now() + 30 * 60_000;
    host.platform.answer = () =>
      host.clock.now() < wellAgainAt ? { kind: 'later', afterMs: 5_000 } : { kind: 'sent', message: 'm' };
    await host.platform.says('x');
    await host.advance(60 * 60_000);

    assert.deepEqual(host.states('outbox'), ['sent']);
  });

  it('holds the whole account where the platform says so, and no other, without using up attempts', async (t) => {
    const host = await engineHost(t, TWO);
    const called: string[] = [];
    let isLimited = true;
    host.platform.answer = (call) => {
      called.push(call.conversation);
      if (!isLimited || call.conversation.startsWith('b')) return { kind: 'sent' };
      isLimited = false;
      return { kind: 'later', afterMs: 60_000, account: true };
    };
    await host.platform.says('1', { endpoint: A, room: 'a1' });
    await host.quiet();
    for (const room of ['a2', 'a3']) await host.platform.says('2', { endpoint: A, room });
    await host.platform.says('3', { endpoint: B, room: 'b1' });
    await host.advance(59_000);
    const meanwhile = [...called];
    await host.advance(2_000);

    assert.deepEqual(meanwhile, ['a1', 'b1']);
    assert.deepEqual(called.slice(2).toSorted(), ['a1', 'a2', 'a3']);
    assert.deepEqual(
      host.rows('SELECT state, attempts FROM outbox ORDER BY seq').map((row) => Object.values(row)),
      [
        ['sent', 2],
        ['sent', 1],
        ['sent', 1],
        ['sent', 1],
      ],
    );
  });

  it('holds the account for less than itself where the platform says so', async (t) => {
    const host = await engineHost(t, TWO);
    const called: string[] = [];
    host.platform.answer = ({ conversation }) => {
      called.push(conversation);
      return called.length > 1 ? { kind: 'sent' } : { kind: 'later', afterMs: 60_000, account: true, accountMs: 5_000 };
    };
    await host.platform.says('1', { endpoint: A, room: 'a1' });
    await host.quiet();
    await host.platform.says('2', { endpoint: A, room: 'a2' });
    await host.advance(4_000);
    const held = [...called];
    await host.advance(2_000);
    const others = [...called];
    await host.advance(56_000);

    assert.deepEqual([held, others, called], [['a1'], ['a1', 'a2'], ['a1', 'a2', 'a1']]);
  });

  it('becomes a dead letter when the same send has the account refused each time', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    host.platform.answer = (call) => {
      if ('text' in call && call.text === 're bad') throw accountFailed('403', 'renew');
      return { kind: 'sent' };
    };
    await host.platform.says('bad');
    await host.quiet();
    const attempts = [];
    for (let turn = 0; turn < 8; turn += 1) {
      attempts.push(host.rows<{ attempts: number }>('SELECT attempts FROM outbox')[0]?.attempts);
      host.engine.endpoints.require(A).reconnect();
      await host.advance(1_000);
    }
    await host.platform.says('good');
    await host.quiet();

    assert.deepEqual(attempts, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert.deepEqual(host.states('outbox'), ['dead', 'sent']);
  });
});
