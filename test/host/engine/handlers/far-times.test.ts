// Times that are far away: beyond what a timer of Node takes (24.8 days), beyond 2^31 seconds (January 2038), and past because the clock
// jumped over them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEventRetention, type RetentionLimits } from '../../../../worker/events/retention.ts';
import { Housekeeping } from '../../../../worker/host/housekeeping.ts';
import { remind } from '../../../../worker/plugins/remind/index.ts';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { ManualClock } from '../../../../worker/testing/manual-clock.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** 2038-01-19T03:14:08Z: a second more than fits in 32 bits. */
const LAST_SECOND = 2 ** 31 * 1_000;
const REMINDER = 'ann reminder: tea';

/** Time passes at once: a wake a minute is not looked at. */
async function pass(host: EngineHost, ms: number): Promise<void> {
  host.clock.moveTo(host.clock.now() + ms);
  await host.advance(60_000);
}

const reminders = (host: EngineHost): number =>
  host.platform.said('dm-ann').filter((text) => text.endsWith(REMINDER)).length;

const dueAt = (host: EngineHost): string[] =>
  host.rows<{ at: number }>('SELECT at FROM due').map(({ at }) => new Date(at).toISOString());

describe('a reminder', () => {
  it('in 40 days comes after 40 days, over a restart, and once', async (context) => {
    const host = await engineHost(context, { modules: { remind } });
    await host.platform.says('/remind 40d tea');
    await host.quiet();
    await pass(host, 25 * DAY);
    const early = reminders(host);

    const next = await host.restart(context);
    await pass(next, 15 * DAY - 3 * 60_000);
    const before = reminders(next);
    await next.advance(3 * 60_000);
    const at = reminders(next);
    await pass(next, 40 * DAY);

    assert.deepEqual([early, before, at, reminders(next)], [0, 0, 1, 1]);
  });

  it('over the end of 32-bit seconds comes at its time, and those after it do, too', async (context) => {
    const clock = new ManualClock(LAST_SECOND - 10 * DAY);
    const host = await engineHost(context, { clock, modules: { remind } });
    await host.platform.says('/remind 20d tea');
    await host.quiet();
    const stored = dueAt(host);
    await pass(host, 10 * DAY);
    const early = reminders(host);
    const next = await host.restart(context);
    await pass(next, 10 * DAY);
    const first = reminders(next);
    await next.platform.says('/remind 300d tea');
    await next.quiet();
    const second = dueAt(next);
    await pass(next, 300 * DAY);

    assert.deepEqual(stored, ['2038-01-29T03:14:08.000Z']);
    assert.match(second[0] ?? '', /^2038-11-25T/);
    assert.deepEqual([early, first, reminders(next)], [0, 1, 2]);
  });

  it('for 2039 is stored in 2026 and comes in 2039', async (context) => {
    const far = { plugins: { remind: { maxDays: 5_000 } } };
    const host = await engineHost(context, { modules: { remind }, config: far });
    await host.platform.says('/remind 4800d tea');
    await host.quiet();
    const stored = dueAt(host);
    await pass(host, 4_799 * DAY);
    const before = reminders(host);
    await pass(host, DAY);

    assert.deepEqual(stored, ['2039-02-22T12:00:00.000Z']);
    assert.deepEqual([before, reminders(host)], [0, 1]);
  });

  for (const [name, step] of [
    ['while the host runs', async (host: EngineHost) => (host.clock.step(50 * DAY), host)],
    [
      'while the host is down',
      async (host: EngineHost, restart: () => Promise<EngineHost>) => {
        await host.stop();
        host.clock.step(50 * DAY);
        return restart();
      },
    ],
  ] as const)
    it(`that a clock jumps over ${name} comes within a minute, and not again when the clock is put right`, async (context) => {
      const host = await engineHost(context, { modules: { remind } });
      await host.platform.says('/remind 40d tea');
      await host.quiet();

      const next = await step(host, () => host.restart(context));
      await next.advance(60_000);
      const jumped = reminders(next);
      next.clock.step(-50 * DAY);
      await next.advance(60_000);
      await pass(next, 40 * DAY);

      assert.deepEqual([jumped, reminders(next)], [1, 1]);
      assert.deepEqual(next.states('inbox'), ['done', 'done']);
    });
});

describe('a host at the end of 32-bit seconds', () => {
  it('goes on: events and ids in their order, jobs, retries', async (context) => {
    const jobs: string[] = [];
    const daily = definePlugin({
      name: 'daily',
      setup: (p) => p.cron('job', { at: '0 3 * * *', timezone: 'UTC' }, (_ctx, due) => void jobs.push(iso(due))),
    });
    const echo = definePlugin({ name: 'echo', setup: (p) => p.on('message', {}, (_ctx, { text }) => text) });
    const clock = new ManualClock(LAST_SECOND - HOUR);
    const host = await engineHost(context, { clock, modules: { daily, echo } });
    let isBusy = true;
    host.platform.answer = () => (isBusy ? { kind: 'later', afterMs: 2 * HOUR } : { kind: 'sent' });
    await host.platform.says('one');
    await host.quiet();
    isBusy = false;
    await host.advance(HOUR - 60_000);
    const early = host.platform.said('dm-ann').length;
    await host.advance(2 * HOUR);
    const said = host.platform.said('dm-ann');
    const ids = host.rows<{ id: string }>('SELECT id FROM inbox ORDER BY seq').map(({ id }) => id);
    await host.platform.says('two');
    await host.quiet();
    const times = host.rows<{ at: number }>('SELECT at FROM event_log ORDER BY seq').map(({ at }) => at);
    const later = host.rows<{ id: string }>('SELECT id FROM inbox ORDER BY seq').map(({ id }) => id);
    await host.advance(24 * HOUR);

    assert.deepEqual(jobs, ['2038-01-19T03:00:00.000Z', '2038-01-20T03:00:00.000Z']);
    assert.deepEqual([early, said], [0, ['one']]);
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
    assert.ok(times[0] !== undefined && times[0] < LAST_SECOND && (times.at(-1) ?? 0) > LAST_SECOND);
    assert.deepEqual(later, later.toSorted(), 'ids sort by time');
    assert.ok(later.length > ids.length);
  });

  it('erases texts, and forgets events and deliveries after their days, not before', async (context) => {
    const host = await engineHost(context, { clock: new ManualClock(LAST_SECOND - 2 * DAY) });
    const { core, clock } = host;
    const kept = new Housekeeping(core, () => ({ bodyDays: 3, idDays: 20, outboxDays: 3 }));
    const head = (): number => host.events().at(-1)?.seq ?? 0;
    const limits = (): RetentionLimits => ({ maxEvents: 1_000, maxBytes: 1e9, maxAgeHours: 72 });
    const history = createEventRetention({ ...core, now: () => kept.now(), head, limits }, { oldest: 1 });
    for (const part of [kept, history]) context.after(() => part.stop());
    await host.platform.says('one');
    await host.quiet();
    const there = () => {
      const [item] = host.rows<object>(
        "SELECT count(*) AS items, count(body) AS texts FROM inbox WHERE endpoint <> ''",
      );
      return { ...item, isInHistory: host.events('inbox.received').length > 0 };
    };

    kept.start();
    history.start();
    await days(2);
    const atTwo = there();
    await days(2);
    const atFour = there();
    await days(18);

    assert.deepEqual(
      [atTwo, atFour, there()],
      [
        { items: 1, texts: 1, isInHistory: true },
        { items: 1, texts: 0, isInHistory: false },
        { items: 0, texts: 0, isInHistory: false },
      ],
    );

    /** Looked at every six hours: what is kept goes by a clock that believes no jump at once. */
    async function days(count: number): Promise<void> {
      for (let hour = 0; hour < count * 24; hour += 6) {
        clock.moveTo(clock.now() + 6 * HOUR);
        await host.quiet();
      }
    }
  });
});

const iso = (at: number | Date): string => new Date(at).toISOString();
