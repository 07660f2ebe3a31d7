// What a drain does with handlers under way: it waits for them, and one that needs more is cut.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { portProject, type StartedSvc, startSvc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

/** Notes each of its runs, and takes as long as the first word says; the second run is quick. */
const SLOW = `import { appendFileSync, readFileSync } from 'node:fs';
import { definePlugin, t } from 'svc';
const RUNS = new URL('../runs', import.meta.url);
export default definePlugin({ name: 'slow', setup(p) {
  p.command('slow', { summary: 'Takes its time', timeoutMs: 600_000, args: { ms: t.integer() } }, async (_ctx, { ms }) => {
    appendFileSync(RUNS, 'began\\n');
    const runs = readFileSync(RUNS, 'utf8').split('began').length - 1;
    await new Promise((resolve) => setTimeout(resolve, runs > 1 ? 0 : ms));
    return 'run ' + runs + ' is over';
  });
} });
`;

interface Item {
  readonly state: string;
  readonly attempts: number;
}

async function slowHost(t: TestContext, supervisor: Readonly<Record<string, unknown>> = {}) {
  const project = await portProject(t, {
    keys: { plugins: { sandbox: {}, slow: { use: './plugins/slow.js' } }, supervisor },
    plugins: { 'slow.js': SLOW },
  });
  const headers = { authorization: `Bearer ${project.token}`, 'content-type': 'application/json' };
  const get = async (path: string): Promise<{ readonly items: readonly Item[] }> =>
    (await (await fetch(project.url + path, { headers })).json()) as { readonly items: readonly Item[] };
  const runs = join(project.path, 'runs');
  return {
    project,
    async start(): Promise<StartedSvc> {
      const run = startSvc(['runtime', 'start', '--mode', 'production', '--no-watch'], { cwd: project.path });
      t.after(() => void run.child.kill('SIGKILL'));
      const isReady = (): Promise<boolean> =>
        fetch(`${project.url}/pub/ready`).then(
          ({ ok }) => ok,
          () => false, // not yet
        );
      await until(isReady, { what: 'the host to be ready' });
      return run;
    },
    /** A handler is at work, for so long. */
    async busy(ms: number): Promise<void> {
      const body = JSON.stringify({ person: 'ann', text: `/slow ${ms}`, delivery: randomUUID() });
      const { ok } = await fetch(`${project.url}/api/chat/say`, { method: 'POST', headers, body });
      assert.ok(ok);
      await until(() => existsSync(runs), { what: 'the handler' });
    },
    async stop(run: StartedSvc): Promise<string> {
      run.child.kill('SIGTERM');
      const { code, stdout } = await run.ended;
      assert.equal(code, 0, stdout);
      return stdout;
    },
    async handled(): Promise<Item> {
      const items = await until(
        async () => {
          const { items: done } = await get('/api/inbox?state=done');
          return done.length > 0 ? done : undefined;
        },
        { what: 'the item to be done' },
      );
      assert.equal(items.length, 1);
      return items[0] as Item;
    },
    async answers(): Promise<readonly string[]> {
      const answer = await fetch(`${project.url}/api/chat/messages?person=ann`, { headers });
      const { messages } = (await answer.json()) as {
        readonly messages: readonly { readonly from: string; readonly text: string }[];
      };
      return messages.filter(({ from }) => from === 'svc').map(({ text }) => text);
    },
    runs: (): number => readFileSync(runs, 'utf8').split('began').length - 1,
  };
}

// At once: they wait, most of the time. How long each part of a drain may take is shown by test/unit/process/drain-times.test.ts.
describe('a drain', { concurrency: true }, () => {
  it('waits for a handler that ends in time', async (t) => {
    const host = await slowHost(t, { stopTimeoutSeconds: 300 });
    const run = await host.start();
    await host.busy(1_500);

    const output = await host.stop(run);

    assert.doesNotMatch(output, /drain was cut/);
    await host.start();
    assert.equal((await host.handled()).attempts, 1);
    await until(async () => (await host.answers()).length > 0, { what: 'the answer' });
    assert.deepEqual([await host.answers(), host.runs()], [['run 1 is over'], 1]);
  });

  it('ends for a handler that needs more, names what it has cut, and that is handled once after the next start', async (t) => {
    const host = await slowHost(t, { stopTimeoutSeconds: 2 });
    const run = await host.start();
    await host.busy(600_000);

    const output = await host.stop(run);

    // Where the machine was too slow to close all the rest in time, the worker is named besides, or instead.
    assert.match(
      output,
      /"name":"handlers","count":1,"reason":"1 did not end: they run again|"name":"worker","count":null/,
    );
    await host.start();
    assert.ok((await host.handled()).attempts >= 2); // a third where the cut one was noted in time: it waited for its turn
    await until(async () => (await host.answers()).length > 0, { what: 'the answer' });
    assert.deepEqual([await host.answers(), host.runs()], [['run 2 is over'], 2]);
  });
});
