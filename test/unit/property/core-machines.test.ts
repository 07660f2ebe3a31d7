// The state machines under any sequence of events keep what their headers promise.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type EndpointState, initialEndpoint, stepEndpoint } from '../../../worker/endpoints/endpoint-machine.ts';
import { type InboxEvent, stepItem } from '../../../worker/inbox/inbox-machine.ts';
import { type AttemptEnd, judge } from '../../../worker/outbox/outbox-machine.ts';
import { SendRate } from '../../../worker/outbox/send-rate.ts';
import {
  type GenerationEvent,
  type GenerationState,
  stepGeneration,
} from '../../../worker/runtime/generations/generation-machine.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';
import { ENDPOINT_EVENTS } from '../../support/hosts/endpoint-events.ts';

describe('under any sequence of events', () => {
  it('an item that is done stays done, and only a dead one comes back (INBOX-MACHINE-1)', () => {
    const event = fc.constantFrom<InboxEvent>('claimed', 'handled', 'postponed', 'buried', 'replayed', 'dropped');
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let state: Parameters<typeof stepItem>[0] = 'received';
        for (const one of events) {
          const next = stepItem(state, one);
          if (state === 'done') assert.equal(next, undefined);
          if (next === 'received') assert.equal(state, 'dead');
          state = next ?? state;
        }
      }),
    );
  });

  it('a generation serves at most once, after its commit, and never after it failed (GENERATION-1, GENERATION-2)', () => {
    const event = fc.constantFrom<GenerationEvent>('activated', 'committed', 'failed', 'superseded', 'idle', 'overdue');
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const seen: GenerationState[] = ['assembling'];
        for (const one of events) {
          const next = stepGeneration(seen.at(-1) ?? 'assembling', one);
          if (next === undefined) continue;
          if (next === 'serving') assert.equal(one, 'committed');
          assert.equal(seen.includes(next), false, 'no state twice');
          seen.push(next);
        }
        assert.equal(seen.includes('failed') && seen.includes('serving'), false);
      }),
    );
  });

  it('a send ends within its bound of attempts, and nothing that may repeat is held against the word of its author (SENDER-3)', () => {
    const end = fc.oneof<fc.Arbitrary<AttemptEnd>[]>(
      fc.record({ kind: fc.constant('later' as const), afterMs: fc.integer({ min: -5, max: 1e6 }) }),
      fc.constant({ kind: 'threw', reason: 'r' } as const),
      fc.constant({ kind: 'lost' } as const),
    );
    fc.assert(
      fc.property(
        fc.array(end, { minLength: 40, maxLength: 40 }),
        fc.integer({ min: 1, max: 30 }),
        fc.boolean(),
        fc.constantFrom('again' as const, 'hold' as const),
        (ends, maxAttempts, idempotent, unsure) => {
          for (const [n, one] of ends.entries()) {
            const verdict = judge(one, { attempts: n + 1, failures: n + 1, maxAttempts, idempotent, unsure });
            if (verdict.kind === 'waiting') assert.ok(verdict.delayMs >= 0);
            if (verdict.kind === 'unknown') return assert.ok(!idempotent && unsure === 'hold');
            if (verdict.kind === 'dead') return assert.equal(n + 1, maxAttempts);
          }
          assert.fail('it never ended');
        },
      ),
    );
  });

  it('an account has at most one connection, and one that may come back has a connection or a timer (ENDPOINT-MACHINE-1)', () => {
    const event = fc.constantFrom(...ENDPOINT_EVENTS);
    fc.assert(
      fc.property(fc.array(event, { maxLength: 80 }), (events) => {
        let state: EndpointState = initialEndpoint(0);
        let connections = 0;
        let timers = 0;
        for (const [now, one] of events.entries()) {
          if (one.kind === 'retry_due' && timers === 0) continue; // only its timer says so
          if ((one.kind === 'lost' || one.kind === 'connected') && connections === 0) continue; // only its connection says so
          if (one.kind === 'retry_due') timers -= 1;
          const step = stepEndpoint(state, one, { now, monotonic: now, random: () => 0.5 });
          for (const effect of step.effects) {
            if (effect.kind === 'close') [connections, timers] = [0, 0];
            else if (effect.kind === 'connect') connections += 1;
            else timers += 1;
          }
          if (step.state.state !== state.state) assert.equal(step.state.since, now);
          state = step.state;
          assert.ok(connections <= 1 && timers <= 1);
          assert.equal(connections, ['connecting', 'online', 'degraded'].includes(state.state) ? 1 : 0);
          assert.equal(timers, state.state === 'offline' ? 1 : 0);
          if (state.state === 'offline' || state.state === 'failed') assert.notEqual(state.lastError, undefined);
        }
      }),
    );
  });

  it('sends of one endpoint keep their order and their distance, whatever others do', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'b'), { minLength: 2, maxLength: 12 }),
        fc.integer({ min: 1, max: 20 }),
        async (endpoints, perSecond) => {
          const clock = new ManualClock(0);
          const rate = new SendRate(clock);
          const went: { endpoint: string; n: number; at: number }[] = [];
          const all = Promise.all(
            endpoints.map(async (endpoint, n) => {
              await rate.take(endpoint, 'c', { perSecond });
              went.push({ endpoint, n, at: clock.now() });
            }),
          );
          await Promise.resolve();
          for (let next = clock.next(); next !== undefined; next = clock.next()) {
            clock.moveTo(next);
            await new Promise((resolve) => setImmediate(resolve));
          }
          await all;
          for (const endpoint of ['a', 'b']) {
            const mine = went.filter((one) => one.endpoint === endpoint);
            for (const [index, one] of mine.entries()) {
              assert.ok(one.at >= (index * 1_000) / perSecond - 1e-6, `${one.at}`);
              if (index > 0) assert.ok(one.n > (mine[index - 1]?.n ?? -1));
            }
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
