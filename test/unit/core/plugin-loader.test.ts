// What the loader of plugins says of a module that does not come to its end.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadPlugin } from '../../../worker/runtime/loading/plugin-loader.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';
import { temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

describe('the loader of plugins', () => {
  for (const mode of ['production', 'development'] as const) {
    it(`waits for a module for a limited time, in ${mode}`, async (t) => {
      const { path } = temporaryProject(t, { plugins: { 'own.mjs': 'await new Promise(() => {});' } });

      await assert.rejects(loadPlugin('./plugins/own.mjs', { project: path, mode, importLimitMs: 300 }), {
        code: 'plugin_failed',
        message: './plugins/own.mjs cannot be loaded: it was not done within 0.3 s',
      });
    });
  }

  it('leaves it the time that a busy machine takes to compile it: the limit begins with each of its files', async (t) => {
    const waits = 'await new Promise((resolve) => globalThis.stands.push(resolve));';
    const { path } = temporaryProject(t, {
      plugins: { 'own.mjs': `${waits} await import('./other.mjs');`, 'other.mjs': waits },
    });
    const stands: (() => void)[] = [];
    Object.assign(globalThis, { stands });
    const importClock = new ManualClock(0);
    let isOver = false;

    const loading = loadPlugin('./plugins/own.mjs', {
      project: path,
      mode: 'development',
      importLimitMs: 10,
      importClock,
    });
    loading.catch(() => (isOver = true));
    importClock.moveTo(1_000);
    await until(() => stands.length === 1 && importClock.next() === 1_010, { what: 'the first file' });
    importClock.moveTo(1_009);
    stands[0]?.();
    await until(() => stands.length === 2 && importClock.next() === 1_019, { what: 'the other file' });
    importClock.moveTo(1_018);
    assert.equal(isOver, false);
    importClock.moveTo(1_019);

    await assert.rejects(loading, { code: 'plugin_failed' });
  });
});
