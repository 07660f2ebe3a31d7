import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

describe('keys and names of plugins', () => {
  for (const command of ['config check', 'runtime start --daemon', 'runtime start --mode production --no-watch']) {
    it(`that its schema refuses end \`svc ${command}\` with 78 and the place in the file`, async (t) => {
      const project = temporaryProject(t, {
        config: { http: { token: '${HTTP_TOKEN}' }, plugins: { sandbox: {}, remind: { maxDays: 'none' } } },
      }); // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration

      const ended = await svc(command.split(' '), { cwd: project.path });

      assert.equal(ended.code, 78, ended.stdout + ended.stderr);
      assert.match(
        ended.stderr,
        /svc\.config\.yml:\d+:\d+ plugins\.remind\.maxDays expected a whole number, got "none"/,
      );
    });
  }

  for (const command of ['runtime start --daemon', 'runtime start --mode production --no-watch'])
    it(`that nobody has end \`svc ${command}\` with 78 and the nearest name`, async (t) => {
      const project = temporaryProject(t, {
        config: { http: { token: '${HTTP_TOKEN}' }, plugins: { sandbox: {}, remnd: {} } },
      }); // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration

      const ended = await svc(command.split(' '), { cwd: project.path });

      assert.equal(ended.code, 78, ended.stdout + ended.stderr);
      assert.match(ended.stderr, /svc\.config\.yml:\d+:\d+ plugins\.remnd names no plugin: .*did you mean remind\?/);
      assert.equal(existsSync(project.paths.supervisorRecord), false);
    });
});
