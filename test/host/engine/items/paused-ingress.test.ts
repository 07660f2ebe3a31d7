// Ingress while an operator has paused it: parked or rejected, over restarts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { engineHost } from '../../../support/hosts/engine-host.ts';

const echo = definePlugin({
  name: 'echo',
  setup(p) {
    p.on('message', {}, (_ctx, event) => `you said ${event.text}`);
  },
});

describe('ingress', () => {
  it('parks over a restart, and handles what was parked when it is resumed', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    await host.engine.gate.set({ state: 'paused', mode: 'park' } as never, 'op');
    await host.platform.says('parked');
    await host.quiet();

    const next = await host.restart(t);
    await next.platform.says('parked too');
    await next.quiet();
    const before = next.platform.said('dm-ann');
    await next.engine.gate.set({ state: 'open' } as never, 'op');
    await next.quiet();

    assert.deepEqual(before, []);
    assert.deepEqual(next.platform.said('dm-ann'), ['you said parked', 'you said parked too']);
    assert.deepEqual(
      next.events('ingress.resumed').map(({ data }) => data['parked']),
      [2],
    );
  });

  it('keeps what was parked until it is resumed, also when the pause changes to reject, over a restart', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    await host.engine.gate.set({ state: 'paused', mode: 'park' } as never, 'op');
    await host.platform.says('parked');
    await host.engine.gate.set({ state: 'paused', mode: 'reject' } as never, 'op');
    await host.quiet();
    const whileRejecting = host.platform.said('dm-ann');

    const next = await host.restart(t);
    await next.quiet();
    const afterRestart = next.platform.said('dm-ann');
    await next.engine.gate.set({ state: 'open' } as never, 'op');
    await next.quiet();

    assert.deepEqual([whileRejecting, afterRestart], [[], []]);
    assert.deepEqual(next.platform.said('dm-ann'), ['you said parked']);
    assert.deepEqual(
      next.events('ingress.resumed').map(({ data }) => data['parked']),
      [1],
    );
    assert.equal(next.engine.gate.holds, false);
  });

  it('rejects what a connection brings in as well, and stores nothing of it', async (t) => {
    const host = await engineHost(t, { modules: { echo } });

    await host.engine.gate.set({ state: 'paused', mode: 'reject' } as never, 'op');

    await assert.rejects(host.platform.says('no'), { code: 'ingress_paused' });
    assert.deepEqual(host.states('inbox'), []);
  });

  it('opens by itself at the time that was said, over a restart too', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    const until = new Date(host.clock.now() + 600_000).toISOString();
    await host.engine.gate.set({ state: 'paused', mode: 'park', until } as never, 'op');
    await host.platform.says('parked');

    const next = await host.restart(t);
    await next.advance(599_000);
    const before = next.platform.said('dm-ann');
    await next.advance(2_000);

    assert.deepEqual(
      [before, next.platform.said('dm-ann'), next.engine.gate.state?.state],
      [[], ['you said parked'], 'open'],
    );
    assert.deepEqual(
      next.events('ingress.resumed').map(({ data }) => data['automatic']),
      [true],
    );
  });

  it('opens by itself to the second, whatever the timer slept for', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    await host.quiet();
    const until = new Date(host.clock.now() + 5_000).toISOString();
    await host.engine.gate.set({ state: 'paused', mode: 'park', until } as never, 'op');

    await host.advance(5_000);

    assert.equal(host.engine.gate.state?.state, 'open');
  });

  it('changes once for two that are meant for the same state', async (t) => {
    const host = await engineHost(t, { modules: { echo } });
    const pause = (reason: string) =>
      host.engine.gate.set({ state: 'paused', reason }, 'op', { isMeant: ({ state }) => state === 'open' });

    const [first, second] = await Promise.allSettled([pause('one'), pause('two')]);

    assert.deepEqual(
      [first.status, second.status === 'rejected' ? second.reason.code : second.status],
      ['fulfilled', 'precondition_failed'],
    );
    assert.equal(host.engine.gate.state?.reason, 'one');
  });

  it('tells of an opening once', async (t) => {
    const host = await engineHost(t, { modules: { echo } });

    await host.engine.gate.set({ state: 'open' } as never, 'op');

    assert.deepEqual(host.events('ingress.resumed'), []);
  });
});
