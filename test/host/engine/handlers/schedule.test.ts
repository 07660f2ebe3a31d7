// Timers and cron over restarts and clock steps.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin, retryLater, t } from '../../../../worker/sdk/index.ts';
import { ManualClock } from '../../../../worker/testing/manual-clock.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const HOUR = 3_600_000;

/** `set <key> <ms> <text>` schedules, `cancel <key>` cancels; a fired task says its text in #out. */
const alarm = definePlugin({
  name: 'alarm',
  setup(p) {
    const fire = p.task(
      'fire',
      { data: { text: t.string() } },
      (ctx, { text }) => void ctx.send({ endpoint: 'memory~a', id: '#out' }, text),
    );
    p.on('message', {}, (ctx, { text }) => {
      const [verb, key = '', ms = '0', words = ''] = text.split(' ');
      if (verb === 'cancel') ctx.cancel(fire, key);
      else ctx.schedule(fire, { text: words }, { afterMs: Number(ms), ...(key === '-' ? {} : { key }) });
    });
  },
});

const cronAt = (at: string, timezone: string, missed: 'skip' | 'run_once' = 'run_once') =>
  definePlugin({
    name: 'cron',
    setup(p) {
      p.cron(
        'job',
        { at, timezone, missed },
        (ctx, due) => void ctx.send({ endpoint: 'memory~a', id: '#out' }, new Date(due).toISOString()),
      );
    },
  });

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const said = (host: EngineHost): string[] => host.platform.said('#out');

describe('a task', () => {
  it('fires once at its time, over a restart, and the newest wins under a key', async (context) => {
    const host = await engineHost(context, { modules: { alarm } });
    await host.platform.says('set k 60000 first');
    await host.platform.says('set k 90000 second');
    await host.platform.says('set - 60000 third');
    await host.quiet();

    const next = await host.restart(context);
    await next.advance(60_000);
    const between = said(next);
    await next.advance(HOUR);

    assert.deepEqual([between, said(next)], [['third'], ['third', 'second']]);
    assert.deepEqual(next.rows('SELECT * FROM due'), []);
  });

  it('waits while its slot is disabled, over a restart, and is a dead letter where the slot is gone', async (context) => {
    const host = await engineHost(context, { modules: { alarm } });
    await host.platform.says('set - 60000 first');
    await host.platform.says('set - 120000 second');
    await host.quiet();
    const off = { plugins: { alarm: { enabled: false } }, inbox: { maxPending: 1 } };
    host.configure(off);
    await host.engine.runtime.reload('test');
    await host.advance(60_000);
    const still = await host.restart(context, { config: off });
    await still.advance(60_000);
    await still.platform.says('taken: what waits takes no room');
    await still.quiet();
    const waiting = still.rows('SELECT id FROM due').length;
    still.configure({});
    await still.engine.runtime.reload('test');
    await still.quiet();
    const fired = said(still);

    await still.platform.says('set - 1000 third');
    await still.quiet();
    const gone = await still.restart(context, { modules: {}, config: {} });
    await gone.advance(1_000);

    assert.deepEqual([waiting, fired], [2, ['first', 'second']]);
    assert.deepEqual(gone.states('inbox'), ['done', 'done', 'done', 'done', 'done', 'done', 'dead']);
  });

  it('waits while the inbox is full: many that are due at once do not take the room of messages (TIMER-3)', async (context) => {
    const opened = deferred();
    const many = definePlugin({
      name: 'many',
      setup(p) {
        const fire = p.task('fire', { data: { n: t.integer() } }, async (ctx, { n }) => {
          await opened.promise;
          ctx.send({ endpoint: 'memory~a', id: '#out' }, String(n));
        });
        p.on('message', {}, (ctx) => {
          for (let n = 0; n < 30; n += 1) ctx.schedule(fire, { n }, { afterMs: 1_000 });
        });
      },
    });
    const host = await engineHost(context, { modules: { many }, config: { inbox: { maxPending: 5 } } });
    await host.platform.says('all');
    await host.quiet();

    await host.advance(1_000);
    const pending = host.engine.inbox.pending.items;
    opened.resolve();
    for (let seconds = 0; seconds < 30 && said(host).length < 30; seconds += 1) await host.advance(1_000);

    assert.equal(pending, 4, 'one of five is left for messages');
    assert.equal(new Set(said(host)).size, 30);
  });

  it('can be cancelled', async (context) => {
    const host = await engineHost(context, { modules: { alarm } });
    await host.platform.says('set k 1000 never');
    await host.platform.says('cancel k');
    await host.advance(5_000);

    assert.deepEqual(said(host), []);
    assert.equal(host.events('task.cancelled').length, 1);
  });

  it('that was due while the host was down fires at the start', async (context) => {
    const host = await engineHost(context, { modules: { alarm } });
    await host.platform.says('set - 60000 late');
    await host.quiet();
    await host.stop();
    host.clock.moveTo(host.clock.now() + HOUR);

    const next = await host.restart(context);
    await next.quiet();

    assert.deepEqual(said(next), ['late']);
  });

  it('scheduled again for the very moment at which it had fired fires again', async (context) => {
    const host = await engineHost(context, { modules: { alarm } });
    for (const text of ['one', 'two']) {
      await host.platform.says(`set k 0 ${text}`);
      await host.advance(0);
    }

    assert.deepEqual(said(host), ['one', 'two']);
  });

  it('that is replaced for the same moment while it fires, fires as the newer one says', async (context) => {
    const host = await engineHost(context, { modules: { alarm } });
    await host.platform.says('set k 60000 old');
    await host.quiet();
    const { writer } = host.core;
    const commit = writer.commit.bind(writer);
    let isFirst = true;
    writer.commit = async (unit) => {
      if (unit.name === 'due.task' && isFirst) {
        isFirst = false;
        await host.write(`UPDATE due SET data = '{"text":"new"}'`);
      }
      return commit(unit);
    };

    await host.advance(HOUR);

    assert.deepEqual(said(host), ['new']);
    assert.deepEqual(host.rows('SELECT * FROM due'), []);
  });

  it('fires once though the clock steps back an hour', async (context) => {
    const host = await engineHost(context, { modules: { alarm } });
    await host.platform.says('set - 1000 one');
    await host.platform.says('set - 7200000 two');
    await host.advance(2_000);
    await host.stop();

    const next = await engineHost(context, {
      modules: { alarm },
      project: host.project,
      platform: host.platform,
      clock: new ManualClock(host.clock.now() - HOUR),
    });
    await next.advance(HOUR + 10_000);
    const between = said(next);
    await next.advance(3 * HOUR);

    assert.deepEqual([between, said(next)], [['one'], ['one', 'two']]);
  });

  it('keeps its order among hundreds that are due together', async (context) => {
    const host = await engineHost(context, { modules: { alarm } });
    const values = Array.from(
      { length: 450 },
      (_, n) => `('t${n}', 'task', ${host.clock.now() + 1_000}, 'root/alarm#task/fire', 'same', '{"text":"${n}"}')`,
    );
    await host.write(`INSERT INTO due (id, kind, at, capability, lane, data) VALUES ${values.join(', ')}`);
    host.engine.timers.wake();

    await host.advance(2_000);

    assert.deepEqual(
      said(host),
      Array.from({ length: 450 }, (_, n) => `${n}`),
    );
  });

  it('that cannot be fired is tried again, not at once', async (context) => {
    const host = await engineHost(context, { modules: { alarm } });
    const { writer } = host.core;
    const commit = writer.commit.bind(writer);
    let tries = 0;
    writer.commit = (unit) => {
      if (unit.name !== 'due.task') return commit(unit);
      tries += 1;
      return tries > 600 ? commit(unit) : Promise.reject(new Error('full'));
    };
    const values = Array.from(
      { length: 300 },
      (_, n) => `('t${n}', 'task', ${host.clock.now()}, 'root/alarm#task/fire', 't${n}', '{"text":"x"}')`,
    );
    await host.write(`INSERT INTO due (id, kind, at, capability, lane, data) VALUES ${values.join(', ')}`);

    host.engine.timers.wake();
    await host.quiet();
    const first = tries;
    await host.advance(10_000);

    assert.equal(first, 300);
    assert.equal(said(host).length, 300);
  });
});

describe('a cron job', () => {
  const cases: readonly [string, string, string, readonly string[]][] = [
    ['30 2 * * *', 'America/New_York', '2026-03-08T05:00Z', ['2026-03-08T07:00:00.000Z', '2026-03-09T06:30:00.000Z']],
    ['0 2 * * *', 'America/New_York', '2026-03-08T05:00Z', ['2026-03-08T07:00:00.000Z']],
    [
      '*/30 * * * *',
      'America/New_York',
      '2026-03-08T06:15Z',
      ['2026-03-08T06:30:00.000Z', '2026-03-08T07:00:00.000Z', '2026-03-08T07:30:00.000Z'],
    ],
    ['30 1 * * *', 'America/New_York', '2026-11-01T04:00Z', ['2026-11-01T05:30:00.000Z', '2026-11-02T06:30:00.000Z']],
    [
      '*/30 * * * *',
      'America/New_York',
      '2026-11-01T04:45Z',
      ['2026-11-01T05:00:00.000Z', '2026-11-01T05:30:00.000Z', '2026-11-01T06:00:00.000Z', '2026-11-01T06:30:00.000Z'],
    ],
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T23:00Z', ['2026-03-29T01:00:00.000Z']],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-24T23:00Z', ['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']],
    ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T14:00Z', ['2026-10-03T15:30:00.000Z']],
    ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T13:00Z', ['2026-04-04T14:45:00.000Z']],
    ['0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00Z', ['2018-11-04T03:00:00.000Z']],
    [
      '0 0 * * *',
      'Pacific/Apia',
      '2011-12-29T08:00Z',
      ['2011-12-29T10:00:00.000Z', '2011-12-30T10:00:00.000Z', '2011-12-31T10:00:00.000Z'],
    ],
    ['0 12 30 12 *', 'Pacific/Apia', '2011-06-01T00:00Z', ['2012-12-29T22:00:00.000Z']],
  ];
  for (const [at, zone, from, expected] of cases) {
    it(`${at} in ${zone} from ${from} runs at ${expected.join(', ')}`, async (context) => {
      const host = await engineHost(context, {
        modules: { cron: cronAt(at, zone) },
        clock: new ManualClock(Date.parse(from)),
      });
      const ends = Date.parse(expected.at(-1) ?? '') + 1_000;
      // Long ways are made in one step: what matters is the row that is due.
      while (ends - host.clock.now() > 48 * HOUR) host.clock.moveTo(host.clock.now() + 24 * HOUR);
      await host.advance(ends - host.clock.now());

      assert.deepEqual(said(host), expected);
    });
  }

  it('that was missed runs once, or not at all where it says so', async (context) => {
    for (const [missed, expected] of [
      ['run_once', ['2026-01-01T13:00:00.000Z']],
      ['skip', []],
    ] as const) {
      const host = await engineHost(context, { modules: { cron: cronAt('0 * * * *', 'UTC', missed) } });
      await host.stop();
      host.clock.moveTo(host.clock.now() + 5 * HOUR + 600_000);

      const next = await host.restart(context);
      await next.advance(1_000);
      const atStart = said(next);
      await next.advance(HOUR);

      assert.deepEqual(atStart, expected);
      assert.deepEqual(said(next), [...expected, '2026-01-01T18:00:00.000Z']);
    }
  });

  it('is not run again when the clock steps back over its time', async (context) => {
    const modules = { cron: cronAt('0 * * * *', 'UTC') };
    const host = await engineHost(context, { modules });
    await host.advance(HOUR + 60_000);
    await host.stop();

    const next = await engineHost(context, {
      modules,
      project: host.project,
      platform: host.platform,
      clock: new ManualClock(host.clock.now() - HOUR),
    });
    await next.advance(HOUR);

    assert.deepEqual(said(next), ['2026-01-01T13:00:00.000Z']);
  });

  it('runs at its next time once a clock that was a year ahead is set right, in this process or before the next', async (context) => {
    const modules = { cron: cronAt('0 * * * *', 'UTC') };
    const host = await engineHost(context, { modules });
    host.clock.step(365 * 24 * HOUR);
    await host.advance(60_000);

    host.clock.step(-365 * 24 * HOUR);
    await host.advance(2 * HOUR);
    const runs = said(host);
    host.clock.step(365 * 24 * HOUR);
    await host.advance(60_000);
    await host.stop();
    const next = await engineHost(context, {
      modules,
      project: host.project,
      platform: host.platform,
      clock: new ManualClock(host.clock.now() - 365 * 24 * HOUR),
    });
    await next.advance(2 * HOUR);

    // 13:00 and 15:00 ran when the clock had passed them, a year later: not a second time when it comes to them.
    assert.deepEqual(runs, ['2026-01-01T13:00:00.000Z', '2026-01-01T14:00:00.000Z']);
    assert.deepEqual(said(next), [...runs, '2026-01-01T15:00:00.000Z', '2026-01-01T16:00:00.000Z']);
  });

  it('is not run while its slot is disabled: what it had begun waits, what came meanwhile is skipped', async (context) => {
    let isBusy = true;
    const job = definePlugin({
      name: 'cron',
      setup(p) {
        p.cron('job', { at: '0 * * * *', timezone: 'UTC' }, (ctx, due) => {
          if (isBusy) throw retryLater('busy', { afterMs: 600_000 });
          ctx.send({ endpoint: 'memory~a', id: '#out' }, new Date(due).toISOString());
        });
      },
    });
    const host = await engineHost(context, { modules: { cron: job } });
    await host.advance(HOUR);
    host.configure({ plugins: { cron: { enabled: false } } });
    await host.engine.runtime.reload('test');
    isBusy = false;
    await host.advance(2.5 * HOUR);
    const disabled = host.states('inbox');
    host.configure({});
    await host.engine.runtime.reload('test');
    await host.advance(HOUR);

    assert.deepEqual(disabled, ['waiting']);
    assert.deepEqual(said(host), ['2026-01-01T13:00:00.000Z', '2026-01-01T16:00:00.000Z']);
  });

  it('with another pattern starts anew, and a removed one leaves nothing', async (context) => {
    const host = await engineHost(context, { modules: { cron: cronAt('0 * * * *', 'UTC') } });

    const changed = await host.restart(context, { modules: { cron: cronAt('30 * * * *', 'UTC') } });
    const rows = changed.rows<{ at: number }>('SELECT at FROM due').map(({ at }) => new Date(at).toISOString());
    const removed = await changed.restart(context, { modules: {} });

    assert.deepEqual([rows, removed.rows('SELECT * FROM due')], [['2026-01-01T12:30:00.000Z'], []]);
  });

  it('with a pattern that cannot be read is refused at assembly', async (context) => {
    const host = await engineHost(context, { modules: { cron: cronAt('every day', 'UTC') } });

    assert.match(host.engine.runtime.lastFailure?.message ?? '', /root\/cron#cron\/job/);
  });
});
