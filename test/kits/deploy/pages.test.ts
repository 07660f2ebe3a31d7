// Blocks of commands that stand on no page of a target: each runs in a shell, against a daemon that keeps a Workroom.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { guideLines } from '../../support/deploy/guide-blocks.ts';
import { freePort } from '../../support/free-port.ts';
import { runProgram } from '../../support/process/run-program.ts';
import { CLI, svc } from '../../support/svc-command.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

it('the pages on monitoring and on the Workroom name commands that run', async (t) => {
  const port = await freePort();
  const { path, token } = temporaryProject(t, {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    config: { host: { kind: 'workroom' }, http: { port, token: '${HTTP_TOKEN}' }, plugins: { sandbox: {}, work: {} } },
  });
  try {
    for (const words of ['runtime start --daemon', 'workroom board add web']) {
      const { code, stdout, stderr } = await svc(words.split(' '), { cwd: path });
      assert.equal(code, 0, `${words}: ${stdout}${stderr}`);
    }
    const type = async (page: string, name: string): Promise<string> => {
      const text = guideLines(page, name).join('\n').replace('127.0.0.1:8068', `127.0.0.1:${port}`);
      const shell = `set -eu; HTTP_TOKEN=${token}; svc() { '${process.execPath}' '${CLI}' "$@"; }\n${text}`;
      const { code, stdout, stderr } = await runProgram('sh', ['-c', shell], path);
      assert.equal(code, 0, `${page}, ${name}: ${stdout}${stderr}`);
      return stdout;
    };

    assert.match(await type('workroom.md', 'command'), /web-1/u);
    assert.match(await type('workroom.md', 'prove'), /^2 events hold, .*\n2 events in .*\n2 events hold, /u);
    assert.match(await type('monitor.md', 'events'), /"type":"runtime\.started"/u);
  } finally {
    await svc(['runtime', 'stop'], { cwd: path }); // before the folder of the project goes
  }
});
