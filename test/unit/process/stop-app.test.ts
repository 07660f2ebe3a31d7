// The outer limit of a drain, over apps that keep to it or do not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { App } from '../../../worker/host/app-options.ts';
import { stopApp } from '../../../worker/process/stop-app.ts';

const HANDLERS = { name: 'handlers', count: 2, reason: 'did not end in time' };
const END = { code: 0, reason: 'told to' } as const;

/** Cuts its handlers, and ends or does not. */
const appThat = (ends: boolean): Pick<App, 'stop'> => ({
  stop(_limitMs, _end, onCut) {
    onCut?.(HANDLERS);
    return ends ? Promise.resolve({ cut: [HANDLERS] }) : new Promise(() => {});
  },
});

describe('stopApp', () => {
  it('gives what the drain has cut', async () => {
    const cut = await stopApp(appThat(true), END, { limitMs: 60_000, graceMs: 1 });

    assert.deepEqual(cut, [HANDLERS]);
  });

  it('keeps what was cut by then where the drain does not end, and names the worker last', async () => {
    const cut = await stopApp(appThat(false), END, { limitMs: 10, graceMs: 1 });

    assert.deepEqual(cut, [HANDLERS, { name: 'worker', count: null, reason: 'did not stop within 10 ms' }]);
  });
});
