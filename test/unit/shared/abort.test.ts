import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { guardedSignal } from '../../../shared/time/abort.ts';
import { until } from '../../support/until.ts';

/** As old code does: `signal.onabort = …`. */
const assign = (signal: AbortSignal, onabort: (() => void) | null): void => void Object.assign(signal, { onabort });

describe('a signal for code that is not ours', () => {
  it('aborts with its source, tells what listeners throw, and lets the others hear', async () => {
    const source = new AbortController();
    const failed: string[] = [];
    const heard: string[] = [];
    const signal = guardedSignal(source.signal, (error) => void failed.push((error as Error).message));
    signal.addEventListener('abort', () => {
      throw new Error('function');
    });
    signal.addEventListener('abort', {
      handleEvent() {
        throw new Error('object');
      },
    });
    const rejects: () => unknown = () => Promise.reject(new Error('promise'));
    signal.addEventListener('abort', rejects);
    assign(signal, () => {
      throw new Error('property');
    });
    signal.addEventListener('abort', () => void heard.push('last'));

    source.abort(new Error('over'));
    await until(() => failed.length === 4, { what: 'all four' });

    assert.deepEqual([signal.aborted, (signal.reason as Error).message], [true, 'over']);
    assert.deepEqual(failed.toSorted(), ['function', 'object', 'promise', 'property']);
    assert.deepEqual(heard, ['last']);
  });

  it('forgets listeners that are taken away, each once, and serves what Node makes of signals', async () => {
    const source = new AbortController();
    const heard: string[] = [];
    const signal = guardedSignal(source.signal, () => {});
    const one = (): void => void heard.push('one');
    const two = (): void => void heard.push('two');
    signal.addEventListener('abort', one);
    signal.addEventListener('abort', one);
    signal.addEventListener('abort', two);
    signal.removeEventListener('abort', two);
    assign(signal, two);
    assign(signal, null);
    const both = AbortSignal.any([signal, AbortSignal.timeout(60_000)]);

    source.abort();

    assert.deepEqual([heard, both.aborted, signal.onabort], [['one'], true, null]);
    await assert.rejects(fetch('http://127.0.0.1:9/', { signal }), { name: 'AbortError' });
    assert.equal(guardedSignal(source.signal, () => {}).aborted, true);
  });
});
