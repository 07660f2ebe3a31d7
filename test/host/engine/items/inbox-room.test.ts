// What the host itself puts into the inbox (tasks, jobs, events for subscribers) leaves room for what people say.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defineEvent, definePlugin, t } from '../../../../worker/sdk/index.ts';
import { engineHost } from '../../../support/hosts/engine-host.ts';

const happened = defineEvent('test.happened', t.object({ n: t.integer() }));
const TEN = { inbox: { maxPending: 10 } };

describe('room in the inbox', () => {
  it('is left for messages by a subscriber that hangs, which gets all that it has missed later, in order', async (context) => {
    const seen: number[] = [];
    let open: () => void = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    let n = 0;
    const pair = definePlugin({
      name: 'pair',
      setup(p) {
        p.on('message', {}, (ctx) => ctx.emit(happened, { n: n++ }));
        p.subscribe(happened, async (_ctx, event) => {
          await opened;
          seen.push(event.n);
        });
      },
    });
    const host = await engineHost(context, { modules: { pair }, config: TEN });
    for (let room = 0; room < 30; room += 1) {
      await host.platform.says('x', { room: `r${room}` });
      await host.quiet();
    }
    const { items } = host.engine.inbox.pending;
    open();
    await host.quiet();

    assert.ok(items < 10, `${items} wait`);
    assert.deepEqual(
      seen,
      Array.from({ length: 30 }, (_, at) => at),
    );
  });

  it('is not taken by one subscriber from the next: each has a bounded number of events in it', async (context) => {
    let n = 0;
    const pair = definePlugin({
      name: 'pair',
      setup(p) {
        p.on('message', {}, (ctx) => {
          for (let many = 0; many < 50; many += 1) ctx.emit(happened, { n: n++ });
        });
        p.subscribe(happened, () => new Promise(() => {}));
      },
    });
    const host = await engineHost(context, { modules: { pair } });
    for (let room = 0; room < 10; room += 1) {
      await host.platform.says('x', { room: `r${room}` });
      await host.quiet();
    }

    assert.equal(host.engine.inbox.pending.items, 100);
  });

  it('is left by tasks and jobs that are due together', async (context) => {
    const never = new Promise<void>(() => {});
    const many = definePlugin({
      name: 'many',
      setup(p) {
        const fire = p.task('fire', { data: { n: t.integer() } }, () => never);
        for (let job = 0; job < 10; job += 1) p.cron(`job${job}`, { at: '* * * * *' }, () => never);
        p.on('message', {}, (ctx, { text }) => {
          if (text === 'all') for (let n = 0; n < 10; n += 1) ctx.schedule(fire, { n }, { afterMs: 60_000 });
        });
      },
    });
    const host = await engineHost(context, { modules: { many }, config: TEN });
    await host.platform.says('all');
    await host.advance(180_000);
    const { items } = host.engine.inbox.pending;
    await host.platform.says('x');
    await host.quiet();

    assert.equal(items, 9);
    assert.equal(host.states('inbox').filter((state) => state === 'done').length, 2);
  });

  it('that is for one does not have the timer ask for jobs without end while nothing serves', async (context) => {
    let broken = false;
    const ran: string[] = [];
    const clockwork = definePlugin({
      name: 'clockwork',
      setup(p) {
        if (broken) throw new Error('not yet');
        p.cron('a', { at: '* * * * *' }, () => void ran.push('a'));
        p.cron('b', { at: '* * * * *' }, () => void ran.push('b'));
      },
    });
    const config = { inbox: { maxPending: 2 } };
    const host = await engineHost(context, { modules: { clockwork }, config });
    await host.stop();
    host.clock.moveTo(host.clock.now() + 600_000);
    broken = true;
    const next = await host.restart(context, { modules: { clockwork }, config });
    let reads = 0;
    const all = next.core.reader.all.bind(next.core.reader);
    next.core.reader.all = (query) => {
      reads += 1;
      if (reads > 1_000) throw new Error('asked without end');
      return all(query);
    };
    next.engine.timers.wake();
    await next.engine.timers.settled();
    const before = [...ran];
    broken = false;
    await next.engine.runtime.reload('test');
    await next.advance(2_000);

    assert.deepEqual(before, []);
    assert.ok(reads < 1_000, `${reads} reads`);
    assert.deepEqual(ran.toSorted(), ['a', 'b']);
  });
});
