// The state machines as tables: every state with every event.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type EndpointEvent,
  type EndpointState,
  type EndpointStateName,
  initialEndpoint,
  stepEndpoint,
  takesDeliveries,
  takesSends,
} from '../../../worker/endpoints/endpoint-machine.ts';
import { type InboxEvent, retryDelayMs, stepItem } from '../../../worker/inbox/inbox-machine.ts';
import { type AttemptEnd, judge, sendDelayMs } from '../../../worker/outbox/outbox-machine.ts';
import { type GenerationEvent, stepGeneration } from '../../../worker/runtime/generations/generation-machine.ts';
import { ENDPOINT_EVENTS } from '../../support/hosts/endpoint-events.ts';

const none = undefined;

describe('the machine of an inbox item', () => {
  const events: readonly InboxEvent[] = ['claimed', 'postponed', 'buried', 'replayed', 'dropped'];
  const table = {
    received: ['handling', none, 'dead', none, 'done'],
    handling: ['handling', 'waiting', 'dead', none, 'done'],
    waiting: ['handling', none, 'dead', none, 'done'],
    done: [none, none, none, none, none],
    dead: [none, none, none, 'received', 'done'],
  } as const;
  for (const [state, row] of Object.entries(table)) {
    it(`steps from ${state}`, () => {
      assert.deepEqual(
        events.map((event) => stepItem(state as keyof typeof table, event)),
        [...row],
      );
    });
  }

  it('is handled from handling, and never from waiting, done or dead', () => {
    assert.deepEqual(
      (['handling', 'waiting', 'done', 'dead'] as const).map((state) => stepItem(state, 'handled')),
      ['done', none, none, none],
    );
  });

  it('waits 1 s, 5 s, 30 s, then 2 min', () => {
    assert.deepEqual([1, 2, 3, 4, 50].map(retryDelayMs), [1_000, 5_000, 30_000, 120_000, 120_000]);
  });
});

describe('the machine of a generation', () => {
  const events: readonly GenerationEvent[] = ['activated', 'committed', 'failed', 'superseded', 'idle', 'overdue'];
  const table = {
    assembling: ['active', none, 'failed', none, none, none],
    active: [none, 'serving', 'failed', none, none, none],
    serving: [none, none, none, 'draining', none, none],
    draining: [none, none, none, none, 'retired', 'retired'],
    retired: [none, none, none, none, none, none],
    failed: [none, none, none, none, none, none],
  } as const;
  for (const [state, row] of Object.entries(table)) {
    it(`steps from ${state}`, () => {
      assert.deepEqual(
        events.map((event) => stepGeneration(state as keyof typeof table, event)),
        [...row],
      );
    });
  }
});

describe('the machine of a send', () => {
  const of = { attempts: 1, failures: 1, maxAttempts: 3, idempotent: true, unsure: 'hold' } as const;
  const kindOf = (end: AttemptEnd, more: object = {}): string => judge(end, { ...of, ...more }).kind;
  const threw = { kind: 'threw', reason: 'x' } as const;

  it('ends as its attempt says', () => {
    assert.deepEqual(judge({ kind: 'sent', message: 'm' }, of), { kind: 'sent', message: 'm' });
    assert.deepEqual(judge({ kind: 'refused', reason: 'no' }, of), {
      kind: 'dead',
      reason: 'no',
      code: 'platform_refused',
    });
    assert.deepEqual(
      [kindOf(threw), kindOf({ kind: 'lost' }), kindOf({ kind: 'later', afterMs: 5 })],
      ['waiting', 'waiting', 'waiting'],
    );
  });

  it('is unknown only where the platform does not drop repeats and nobody wants them', () => {
    for (const end of [threw, { kind: 'lost' } as const]) {
      assert.deepEqual(
        [kindOf(end), kindOf(end, { idempotent: false }), kindOf(end, { idempotent: false, unsure: 'again' })],
        ['waiting', 'unknown', 'waiting'],
      );
    }
    assert.equal(
      kindOf({ kind: 'later', afterMs: 5 }, { idempotent: false }),
      'waiting',
      'the platform has said that it was not taken',
    );
  });

  it('is dead at the bound of attempts', () => {
    assert.deepEqual(
      [kindOf(threw, { attempts: 3 }), kindOf({ kind: 'later', afterMs: 1 }, { attempts: 3 })],
      ['dead', 'dead'],
    );
  });

  it('waits by the attempts that ended, and is bounded by all of them', () => {
    const after = (more: object): unknown => judge(threw, { ...of, maxAttempts: 9, ...more });

    assert.deepEqual(after({ attempts: 5, failures: 1 }), {
      kind: 'waiting',
      delayMs: 1_000,
      reason: 'x',
      code: 'send_failed',
    });
    assert.equal(kindOf({ kind: 'lost' }, { attempts: 3, failures: 0, unsure: 'again' }), 'dead');
  });

  it('waits as long as the platform says, else longer each time', () => {
    const waitOf = (end: AttemptEnd): number => {
      const verdict = judge(end, of);
      return verdict.kind === 'waiting' ? verdict.delayMs : -1;
    };
    assert.deepEqual(
      [
        waitOf({ kind: 'later', afterMs: 7_000 }),
        waitOf({ kind: 'later', afterMs: 0 }),
        waitOf(threw),
        waitOf({ kind: 'lost' }),
      ],
      [7_000, 100, 1_000, 0],
    );
    const delays = Array.from({ length: 12 }, (_, n) => sendDelayMs(n + 1));
    assert.deepEqual(
      delays,
      delays.toSorted((a, b) => a - b),
    );
  });
});

describe('the machine of an account', () => {
  const at = { now: 1_000, monotonic: 1_000, random: () => 1 };
  const stateOf = (state: EndpointStateName): EndpointState => ({
    ...initialEndpoint(0),
    state,
    ...(state === 'online' || state === 'degraded' ? { onlineAt: 0 } : {}),
  });
  const events = ENDPOINT_EVENTS;
  const table: Readonly<Record<EndpointStateName, readonly string[]>> = {
    disabled: ['connecting', '', '', '', '', '', '', '', ''],
    connecting: ['', 'disabled', 'online', '', '', 'offline', 'failed', '', 'connecting'],
    online: ['', 'disabled', '', 'degraded', '', 'offline', 'failed', '', 'connecting'],
    degraded: ['', 'disabled', '', 'degraded', 'online', 'offline', 'failed', '', 'connecting'],
    offline: ['', 'disabled', '', '', '', '', 'failed', 'connecting', 'connecting'],
    failed: ['connecting', 'disabled', '', '', '', '', 'failed', '', 'connecting'],
  };
  for (const [state, row] of Object.entries(table)) {
    it(`steps from ${state}`, () => {
      const before = stateOf(state as EndpointStateName);
      const steps = events.map((event) => stepEndpoint(before, event, at));
      assert.deepEqual(
        steps.map(({ state: after, effects }) => (after === before && effects.length === 0 ? '' : after.state)),
        [...row],
      );
    });
  }

  it('closes before it connects again, and waits before it tries again', () => {
    assert.deepEqual(stepEndpoint(stateOf('online'), { kind: 'reconnect' }, at).effects, [
      { kind: 'close' },
      { kind: 'connect' },
    ]);
    assert.deepEqual(stepEndpoint(stateOf('connecting'), { kind: 'lost', reason: 'r' }, at).effects, [
      { kind: 'close' },
      { kind: 'retry_after', delayMs: 1_000 },
    ]);
  });

  it('waits longer each time, up to a minute, each account a time of its own, and anew after half a minute online', () => {
    const waits = (random: () => number): readonly number[] => {
      let account = stateOf('connecting');
      return Array.from({ length: 50 }, () => {
        const lost = stepEndpoint(account, { kind: 'lost', reason: 'r' }, { ...at, random });
        account = stepEndpoint(lost.state, { kind: 'retry_due' }, { ...at, random }).state;
        const [wait] = lost.effects.flatMap((effect) => (effect.kind === 'retry_after' ? [effect.delayMs] : []));
        return wait ?? Number.NaN;
      });
    };
    const [soonest, latest] = [waits(() => 0), waits(() => 1)];
    const long: EndpointState = { ...stateOf('online'), failures: 50, onlineAt: 0 };

    assert.deepEqual(latest.slice(0, 8), [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    assert.deepEqual(
      soonest,
      latest.map((ms) => ms / 2),
    );
    const wentBack = { ...at, now: -3_600_000, monotonic: 30_000 }; // the wall clock was set back meanwhile
    assert.deepEqual(stepEndpoint(long, { kind: 'lost', reason: 'r' }, wentBack).effects[1], {
      kind: 'retry_after',
      delayMs: 1_000,
    });
  });

  it('says since when it is so, what went wrong last, and how often it came back, also when it is well again', () => {
    const step = (state: EndpointState, event: EndpointEvent, now: number): EndpointState =>
      stepEndpoint(state, event, { ...at, now }).state;
    const lost = step(stateOf('online'), { kind: 'lost', reason: 'the connection was lost' }, 2_000);
    const healed = step(step(lost, { kind: 'retry_due' }, 3_000), { kind: 'connected' }, 4_000);

    assert.deepEqual([lost.since, lost.reconnects], [2_000, 0]);
    assert.deepEqual([healed.state, healed.since, healed.reconnects], ['online', 4_000, 1]);
    assert.deepEqual(healed.lastError, {
      at: 2_000,
      code: 'connection_lost',
      reason: 'the connection was lost',
      remedy: undefined,
    });
  });

  it('says why it is degraded as it is now, and since when it is', () => {
    const trouble = (reason: string): EndpointEvent => ({ kind: 'troubled', code: 'account_degraded', reason });
    const kicked = stepEndpoint(stateOf('online'), trouble('kicked'), { ...at, now: 2_000 }).state;
    const again = stepEndpoint(kicked, trouble('kicked'), { ...at, now: 3_000 });
    const banned = stepEndpoint(kicked, trouble('banned'), { ...at, now: 4_000 });

    assert.deepEqual(again, { state: kicked, effects: [] }, 'what was said is said once');
    assert.deepEqual([banned.state.state, banned.state.since, banned.effects], ['degraded', 2_000, []]);
    assert.deepEqual(banned.state.lastError, {
      at: 4_000,
      code: 'account_degraded',
      reason: 'banned',
      remedy: undefined,
    });
  });

  it('takes deliveries unless it is disabled or failed, sends only while it is connected', () => {
    const names = Object.keys(table) as EndpointStateName[];
    assert.deepEqual(
      names.filter((name) => takesDeliveries(stateOf(name))),
      ['connecting', 'online', 'degraded', 'offline'],
    );
    assert.deepEqual(
      names.filter((name) => takesSends(stateOf(name))),
      ['online', 'degraded'],
    );
  });
});
