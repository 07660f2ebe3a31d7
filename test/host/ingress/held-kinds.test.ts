// A pause of ingress holds whatever begins an effect, in both modes; the end of the pause begins each once, in order.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { pausedState } from '../../../worker/ingress/stored-pause.ts';
import type { Outgoing } from '../../../worker/sdk/index.ts';
import { defineEvent, definePlugin, retryLater, t } from '../../../worker/sdk/index.ts';
import { MemoryPlatform } from '../../support/accounts/memory-platform.ts';
import { type EngineHost, engineHost } from '../../support/hosts/engine-host.ts';

const MINUTE = 60_000;
const OUT = { endpoint: 'memory~a', id: '#out' };
const happened = defineEvent('test.happened', t.object({ n: t.string() }));

const waits: (() => void)[] = [];

/** One handler of each kind. Each says in #out that it began. */
const busy = definePlugin({
  name: 'busy',
  setup(p) {
    const yes = p.action('yes', { data: {} }, (ctx) => void ctx.send(OUT, 'pressed'));
    const fire = p.task('fire', { data: { n: t.string() } }, (ctx, { n }) => void ctx.send(OUT, `task ${n}`));
    p.on('message', {}, (ctx, { text }) => {
      if (text === 'button') return void ctx.send(OUT, { text: 'press me', buttons: [yes.button('yes', {})] });
      if (text.startsWith('remind ')) return ctx.schedule(fire, { n: text.slice(7) }, { afterMs: MINUTE });
      if (text === 'later' && ctx.item.attempt === 1) throw retryLater('not now', { afterMs: 30_000 });
      if (text === 'slow')
        return new Promise<void>((resolve) => waits.push(resolve)).then(() => ctx.emit(happened, { n: text }));
      return void ctx.send(OUT, `message ${text}`);
    });
    p.subscribe(happened, (ctx, { n }) => void ctx.send(OUT, `event ${n}`));
    p.cron('tick', { at: '*/2 * * * *' }, (ctx) => void ctx.send(OUT, 'cron'));
    p.webhook(
      'sold',
      { body: t.object({}), verify: () => ({ kind: 'ok' }), delivery: () => undefined },
      (ctx) => void ctx.send(OUT, 'webhook'),
    );
  },
});

const said = (host: EngineHost): string[] => host.platform.said('#out');
const pause = (host: EngineHost, mode: 'park' | 'reject') => host.engine.gate.set({ state: 'paused', mode }, 'op');
const open = (host: EngineHost) => host.engine.gate.set({ state: 'open' }, 'op');

async function busyHost(context: TestContext): Promise<EngineHost> {
  const host = await engineHost(context, { modules: { busy } });
  await host.quiet();
  return host;
}

/** A press of the button that was sent last. */
function press(host: EngineHost): Promise<void> {
  const sent = host.platform.calls.at(-1)?.call as Extract<Outgoing, { kind: 'post' | 'edit' }>;
  return host.platform.arrive({
    id: 'press',
    kind: 'pressed',
    conversation: { id: '#out', kind: 'group' },
    user: { id: 'ann', name: 'ann', admin: false },
    sentAt: 0,
    message: 'm1',
    token: sent.buttons[0]?.token ?? '',
  });
}

async function hook(host: EngineHost): Promise<void> {
  const capability = 'root/busy#webhook/sold';
  await host.engine.inbox.accept([
    {
      endpoint: capability,
      deliveryId: 'sold-1',
      payload: { kind: 'webhook', headers: {}, text: '{}' },
      lane: capability,
      capability,
    },
  ]);
}

interface Kind {
  /** While ingress is open. */
  readonly before?: (host: EngineHost) => Promise<void>;
  /** While it is paused. */
  readonly during: (host: EngineHost) => Promise<void>;
  readonly says: readonly string[];
  /** It comes in from outside, which mode `reject` refuses: it arrives while the pause still parks. */
  readonly comesIn?: true;
}

const KINDS: Readonly<Record<string, Kind>> = {
  messages: {
    during: async (host) => {
      for (const text of ['1', '2', '3']) await host.platform.says(text);
    },
    says: ['message 1', 'message 2', 'message 3'],
    comesIn: true,
  },
  'presses of buttons': {
    before: (host) => host.platform.says('button'),
    during: press,
    says: ['pressed'],
    comesIn: true,
  },
  'webhooks of plugins': { during: hook, says: ['webhook'], comesIn: true },
  'tasks, which are what reminders are': {
    before: async (host) => {
      for (const n of ['1', '2']) await host.platform.says(`remind ${n}`);
    },
    during: (host) => host.advance(MINUTE),
    says: ['task 1', 'task 2'],
  },
  'cron of plugins': { during: (host) => host.advance(7 * MINUTE), says: ['cron'] },
  'the next attempts of items': {
    before: (host) => host.platform.says('later'),
    during: (host) => host.advance(MINUTE),
    says: ['message later'],
  },
  'subscriptions to events': {
    before: (host) => host.platform.says('slow'),
    during: async (host) => {
      for (const finish of waits.splice(0)) finish(); // what is under way ends, and its event is one of a subscription
      await host.quiet();
      assert.deepEqual(host.states('inbox'), ['done', 'received']);
    },
    says: ['event slow'],
  },
};

describe('a pause of ingress', () => {
  for (const mode of ['park', 'reject'] as const)
    for (const [kind, { before, during, says, comesIn }] of Object.entries(KINDS))
      it(`holds ${kind} in mode ${mode}, over a restart, and its end begins each once and in order`, async (context) => {
        const first = await busyHost(context);
        await before?.(first);
        await first.quiet();
        const started = said(first).length;
        await pause(first, comesIn === true ? 'park' : mode);
        await during(first);
        await pause(first, mode);
        await first.quiet();
        const whilePaused = said(first).slice(started);

        const next = await first.restart(context);
        await next.quiet();
        const afterStart = said(next).slice(started);
        await open(next);
        await next.quiet();
        const afterEnd = said(next).slice(started);
        await next.quiet();

        assert.deepEqual([whilePaused, afterStart, afterEnd], [[], [], says]);
        assert.deepEqual(said(next).slice(started), says);
      });

  it('lets sends go out, also those that wait for the rate and for their next attempt', async (context) => {
    const platform = new MemoryPlatform();
    const slow = platform.make({}, { perSecond: 1 });
    const host = await engineHost(context, { modules: { busy, memory: slow }, platform });
    let refusals = 1;
    platform.answer = () => (refusals-- > 0 ? { kind: 'later', afterMs: 10_000 } : { kind: 'sent' });
    for (const text of ['1', '2', '3', '4']) await host.platform.says(text);
    await host.quiet();
    await pause(host, 'reject');
    const before = host.states('outbox');
    await host.advance(MINUTE);

    assert.ok(before.some((state) => state !== 'sent'));
    assert.deepEqual(host.states('outbox'), ['sent', 'sent', 'sent', 'sent']);
  });

  it('that is stored in the database is there before anything begins, also after a kill', async (context) => {
    const host = await busyHost(context);
    await host.platform.says('remind 1', { from: 'bob' });
    for (const text of ['slow', 'next']) await host.platform.says(text);
    await host.quiet();
    const begun = said(host);
    await host.core.writer.commit({ name: 'test', statements: pausedState({ at: 0, by: 'restore', reason: 'c12' }) });
    host.kill();
    waits.length = 0;

    const next = await host.restart(context);
    await next.advance(5 * MINUTE);
    const { state, reason, by } = next.engine.gate.known();
    const whilePaused = said(next);
    await open(next);
    await next.quiet();
    for (const finish of waits.splice(0)) finish();
    await next.quiet();

    assert.deepEqual([state, reason, by], ['paused', 'c12', 'restore']);
    assert.deepEqual([begun, whilePaused], [[], []]);
    assert.deepEqual(said(next).toSorted(), ['cron', 'event slow', 'message next', 'task 1']);
  });
});
