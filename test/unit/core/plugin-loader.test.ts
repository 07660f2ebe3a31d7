// What the loader of plugins says of a module that does not come to its end.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadPlugin } from '../../../worker/runtime/plugin-loader.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

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
});
