// Plugins and platforms that name times which no clock shows, and plugins that throw what is no error.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { definePlugin, retryLater, t } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost } from '../../../support/hosts/engine-host.ts';

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

/** When each text was handled, from the first time on. */
function scripted(run: (text: string, attempt: number) => unknown) {
  const at = new Map<string, number[]>();
  const plugin = definePlugin({
    name: 'scripted',
    setup(p) {
      p.on('message', {}, (ctx, { text }) => {
        at.set(text, [...(at.get(text) ?? []), ctx.now()]);
        run(text, ctx.item.attempt);
      });
    },
  });
  const waits = (text: string): number[] =>
    (at.get(text) ?? []).slice(1).map((time, i) => time - (at.get(text)?.[i] ?? 0));
  return { plugin, waits };
}

const errors = (host: EngineHost): (string | null)[] =>
  host.rows<{ last_error: string | null }>('SELECT last_error FROM inbox ORDER BY seq').map((row) => row.last_error);

describe('a wait', () => {
  it('that a handler names is rounded up, and bounded by a year', async (context) => {
    const { plugin, waits } = scripted((text, attempt) => {
      if (attempt === 1) throw retryLater('busy', { afterMs: Number(text) });
    });
    const host = await engineHost(context, { modules: { scripted: plugin } });
    for (const text of ['2000.25', '-5', '1e300']) await host.platform.says(text, { from: `of${text}` });
    await host.quiet();
    await host.advance(HOUR);

    assert.deepEqual([waits('2000.25'), waits('-5'), waits('1e300')], [[2_001], [0], []]);
    assert.deepEqual(host.states('inbox'), ['done', 'done', 'waiting']);
    assert.equal(host.rows<{ at: number }>('SELECT at FROM due')[0]?.at, host.clock.now() - HOUR + YEAR);
  });

  it('that a platform names is rounded up; one that is no number is the usual one', async (context) => {
    const { plugin } = scripted(() => undefined);
    const echo = definePlugin({ name: 'echo', setup: (p) => p.on('message', {}, (_ctx, { text }) => text) });
    const host = await engineHost(context, { modules: { scripted: plugin, echo } });
    const at = new Map<string, number[]>();
    host.platform.answer = (call) => {
      const text = 'text' in call ? call.text : '';
      const times = [...(at.get(text) ?? []), host.clock.now()];
      at.set(text, times);
      return times.length === 1 ? { kind: 'later', afterMs: Number(text) } : { kind: 'sent' };
    };
    for (const text of ['1500.5', 'NaN', 'Infinity']) await host.platform.says(text, { from: `of${text}` });
    await host.quiet();
    await host.advance(HOUR);

    const waits = [...at.values()].map(([first = 0, second = 0]) => second - first);
    assert.deepEqual(waits, [1_501, 1_000, 1_000]);
  });
});

describe('a wait of weeks that a platform names', () => {
  const echo = definePlugin({ name: 'echo', setup: (p) => p.on('message', {}, (_ctx, { text }) => text) });
  const WEEKS = 49 * 24 * HOUR;

  /** An account whose platform asks for seven weeks, to each send until `open`. */
  async function slowed(context: TestContext, account: { readonly account?: true }) {
    const host = await engineHost(context, { modules: { echo }, config: { outbox: { maxAttempts: 2 } } });
    const at: number[] = [];
    let isOpen = false;
    host.platform.answer = () => {
      at.push((host.clock.now() - startedAt) / HOUR);
      return isOpen ? { kind: 'sent' } : { kind: 'later', afterMs: WEEKS, ...account };
    };
    const startedAt = host.clock.now();
    await host.platform.says('hello');
    await host.quiet();
    const state = () => {
      const [runner] = host.engine.endpoints.all();
      return [runner?.state.state, runner?.state.lastError?.reason];
    };
    return { host, at, state, open: () => (isOpen = true) };
  }

  for (const [who, account] of [
    ['the account', { account: true }],
    ['one conversation', {}],
  ] as const)
    it(`is an hour for ${who}: the platform is asked again, no attempt is used up, and the account is degraded with the time`, async (context) => {
      const { host, at, state, open } = await slowed(context, account);
      const first = state();
      await host.advance(3 * HOUR);
      const still = state()[0];
      open();
      await host.advance(HOUR);

      assert.deepEqual(first, ['degraded', 'the platform asks to wait 49 d: sends go on at 2026-01-01T13:00:00.000Z']);
      assert.deepEqual([still, state()[0]], ['degraded', 'online']);
      assert.deepEqual(at, [0, 1, 2, 3, 4]);
      assert.deepEqual(host.states('outbox'), ['sent']);
    });

  it('is shown of a new connection too, and not of a wait of seconds', async (context) => {
    const { host, state } = await slowed(context, { account: true });
    host.engine.endpoints.all()[0]?.reconnect();
    await host.quiet();
    const again = state()[0];
    const short = await engineHost(context, { modules: { echo } });
    short.platform.answer = () => ({ kind: 'later', afterMs: 3_000, account: true });
    await short.platform.says('hello');
    await short.quiet();

    assert.deepEqual([again, short.engine.endpoints.all()[0]?.state.state], ['degraded', 'online']);
  });
});

describe('a task', () => {
  it('is for a whole millisecond, and refused where it is for no time at all', async (context) => {
    const fired: number[] = [];
    const plugin = definePlugin({
      name: 'alarm',
      setup(p) {
        const ring = p.task('ring', { data: { n: t.integer() } }, (ctx) => void fired.push(ctx.now()));
        p.on('message', { attempts: 1 }, (ctx, { text }) => ctx.schedule(ring, { n: 1 }, { afterMs: Number(text) }));
      },
    });
    const host = await engineHost(context, { modules: { alarm: plugin } });
    const startedAt = host.clock.now();
    for (const text of ['1000.5', 'NaN', '1e300']) await host.platform.says(text, { from: `of${text}` });
    await host.quiet();
    await host.advance(HOUR);

    assert.deepEqual(fired, [startedAt + 1_001]);
    const [, nan, late] = errors(host);
    assert.match(nan ?? '', /task root\/alarm#task\/ring: .* is no time/);
    assert.match(late ?? '', /is no time/);
  });
});

describe('a handler that throws nothing', () => {
  it('has failed like one that throws an error: again with backoff, then a dead letter', async (context) => {
    const { plugin, waits } = scripted((text) => {
      const nothing: unknown = text === 'null' ? null : undefined;
      throw nothing;
    });
    const host = await engineHost(context, { modules: { scripted: plugin } });
    for (const text of ['null', 'undefined']) await host.platform.says(text, { from: text });
    await host.quiet();
    await host.advance(HOUR);

    for (const text of ['null', 'undefined']) assert.deepEqual(waits(text), [1_000, 5_000, 30_000, 120_000]);
    assert.deepEqual(errors(host), ['null', 'undefined']);
  });
});
