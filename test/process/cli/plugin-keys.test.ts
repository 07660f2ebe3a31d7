import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

describe('keys of a plugin', () => {
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
});
