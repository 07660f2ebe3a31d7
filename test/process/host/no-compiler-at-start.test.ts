// With nothing but built-in plugins a start loads no schema compiler: their validators come with the bundle.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { CLI } from '../../support/process/built-svc.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

/** Prints what is loaded by `require` after the program is under way. */
const HOOK = `const Module = require('node:module'); const load = Module._load;
Module._load = function (name, ...rest) { process.stderr.write('loads ' + name + '\\n'); return load.call(this, name, ...rest); };`;

describe('assembly of built-in plugins', () => {
  it('loads no Ajv compiler', async (t) => {
    const plugins = { sandbox: {}, help: {}, echo: {}, ping: {}, remind: { maxDays: 30 } };
    const project = temporaryProject(t, { config: { plugins } });
    project.write('hook.cjs', HOOK);

    const args = ['--require', join(project.path, 'hook.cjs'), CLI, 'runtime', 'start', '--once', '--mode', 'test'];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: project.path });

    assert.equal((JSON.parse(stdout) as { ok: boolean }).ok, true);
    const loaded = stderr.split('\n').filter((line) => /loads ajv/.test(line));
    assert.deepEqual(
      loaded.filter((line) => !line.startsWith('loads ajv/dist/runtime/')),
      [],
    );
  });

  it('loads it for a plugin of the project that brings a schema', async (t) => {
    const source = `import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'own', config: { n: t.integer({ default: 1 }) }, setup() {} });`;
    const project = temporaryProject(t, {
      config: { plugins: { own: { use: './plugins/own.ts' } } },
      plugins: { 'own.ts': source },
    });
    project.write('hook.cjs', HOOK);

    const args = ['--require', join(project.path, 'hook.cjs'), CLI, 'runtime', 'start', '--once', '--mode', 'test'];
    const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: project.path });

    assert.match(stderr, /loads ajv\/dist\/2020/);
  });
});
