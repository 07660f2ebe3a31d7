// A plugin that calls `process.exit` in a running host, over the built programs: its call fails, or its worker does, and nobody takes that for a stop.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { portProject, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const PLUGIN = `import { definePlugin } from 'svc';
export default definePlugin({ name: 'own', setup(p) {
  p.command('leave', { summary: 'Leaves' }, () => process.exit(0));
  p.command('later', { summary: 'Leaves later' }, () => { setTimeout(() => process.exit(0), 1); });
} });`;

describe('a plugin that calls process.exit', () => {
  it('fails in a handler, and in a timer ends its worker as a crash that says so', async (t) => {
    const project = await portProject(t, {
      keys: { plugins: { sandbox: {}, own: { use: './plugins/own.mjs' } }, inbox: { maxAttempts: 1 } },
      plugins: { 'own.mjs': PLUGIN },
    });
    const ask = async (...words: string[]) =>
      JSON.parse((await svc([...words, '--json'], { cwd: project.path })).stdout);
    const { pid } = await ask('runtime', 'start', '--daemon');
    const say = (text: string) =>
      fetch(`${project.url}/api/chat/say`, {
        method: 'POST',
        headers: { authorization: `Bearer ${project.env['HTTP_TOKEN']}`, 'content-type': 'application/json' },
        body: JSON.stringify({ person: 'ann', text, delivery: text }),
      });

    assert.equal((await say('/leave')).status, 202);
    const [dead] = await until(
      async () => {
        const { items } = await ask('inbox', 'list', '--state', 'dead');
        return items.length > 0 ? items : undefined;
      },
      { what: 'the dead item' },
    );
    assert.match(JSON.stringify(await ask('inbox', 'show', dead.id)), /process\.exit\(0\) was called/);
    assert.equal((await ask('runtime', 'status')).pid, pid);

    // The worker may be gone before its answer is out.
    const answer = await say('/later').catch(() => undefined);
    assert.ok(answer === undefined || answer.status === 202);
    const status = await until(
      async () => {
        const now = await ask('runtime', 'status');
        return now.ready && now.pid !== pid ? now : undefined;
      },
      { what: 'the next worker' },
    );
    assert.deepEqual([status.exits.at(-1).code, status.exits.at(-1).reason], [1, 'crashed']);
    assert.match(status.exits.at(-1).detail, /process\.exit\(0\) was called/);
  });
});
