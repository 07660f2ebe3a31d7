import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ArrivalQueue } from '../../../../worker/adapters/irc/arrival-queue.ts';
import { Confirmations } from '../../../../worker/adapters/irc/confirmations.ts';
import type { Arrival } from '../../../../worker/sdk/index.ts';

const arrival = (id: number): Arrival => ({
  id: String(id),
  conversation: { id: 'a', kind: 'private' },
  user: { id: 'a', name: 'a', admin: false },
  sentAt: 0,
  kind: 'message',
  message: String(id),
  text: 'x',
});

describe('ArrivalQueue', () => {
  it('stops reading while storing hangs, keeps the order, and reads on (IRC-ARRIVAL-QUEUE-1, IRC-ARRIVAL-QUEUE-2)', async () => {
    const stored: string[] = [];
    const steps: string[] = [];
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const store = async (arrivals: readonly Arrival[]): Promise<void> => {
      await gate;
      stored.push(...arrivals.map(({ id }) => id));
    };
    const queue = new ArrivalQueue({
      store,
      pause: () => steps.push('pause'),
      resume: () => steps.push('resume'),
      log,
    });

    const ids = Array.from({ length: 1_200 }, (_, i) => i);
    for (const id of ids) queue.push(arrival(id));
    release();
    await queue.close();

    assert.deepEqual(steps, ['pause', 'resume']);
    assert.deepEqual(stored, ids.map(String));
  });

  it('says so when the rest cannot be stored after the end (IRC-ARRIVAL-QUEUE-3)', async () => {
    const errors: unknown[] = [];
    const log = { debug() {}, info() {}, warn() {}, error: (fields: object | string) => void errors.push(fields) };
    const queue = new ArrivalQueue({ store: () => Promise.reject(new Error('gone')), pause() {}, resume() {}, log });

    queue.push(arrival(1));
    await queue.close();

    assert.equal(errors.length, 1);
  });
});

describe('Confirmations', () => {
  const confirmations = (limitMs = 1_000): Confirmations =>
    new Confirmations({ limitMs, lower: (text) => text.toLowerCase() });

  it('tells taken from refused, by the target of the refusal (IRC-CONFIRMATIONS-2)', async () => {
    const waiting = confirmations();
    const [ann, bob] = [waiting.expect('1', 'Ann'), waiting.expect('2', 'Bob')];

    waiting.refused('ann', { kind: 'refused', reason: 'no such nick' });
    waiting.refused('ann', { kind: 'refused', reason: 'another' });
    waiting.pong('1');
    waiting.pong('2');
    waiting.pong('3');

    assert.deepEqual(
      [await ann, await bob],
      [{ result: { kind: 'refused', reason: 'no such nick' }, lines: 2 }, undefined],
    );
  });

  it('throws at the time limit and at the end of the connection (IRC-CONFIRMATIONS-1)', async () => {
    const slow = confirmations(1);
    const lost = confirmations();
    const ended = assert.rejects(lost.expect('1'), /lost/);

    lost.end(new Error('lost'));

    await ended;
    await assert.rejects(slow.expect('1'), /no PONG/);
  });
});
