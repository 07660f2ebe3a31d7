// What a drain does with its time: handlers under way have nearly all of it, one that needs more is cut, and everything is closed by its end.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { playedFairly } from '../../support/fair-time.ts';
import { portProject, type StartedSvc, startSvc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const WAIT_MS = 120_000;
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
      await until(isReady, { what: 'the host to be ready', timeoutMs: WAIT_MS });
      return run;
    },
    /** A handler is at work, for so long. */
    async busy(ms: number): Promise<void> {
      const body = JSON.stringify({ person: 'ann', text: `/slow ${ms}`, delivery: randomUUID() });
      const { ok } = await fetch(`${project.url}/api/chat/say`, { method: 'POST', headers, body });
      assert.ok(ok);
      await until(() => existsSync(runs), { what: 'the handler', timeoutMs: WAIT_MS });
    },
    async stop(run: StartedSvc): Promise<{ readonly output: string; readonly ms: number }> {
      const began = performance.now();
      run.child.kill('SIGTERM');
      const { code, stdout } = await run.ended;
      assert.equal(code, 0, stdout);
      return { output: stdout, ms: performance.now() - began };
    },
    async handled(): Promise<Item> {
      const items = await until(
        async () => {
          const { items: done } = await get('/api/inbox?state=done');
          return done.length > 0 ? done : undefined;
        },
        { what: 'the item to be done', timeoutMs: WAIT_MS },
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

/** What is left when all but the handler is quick: a machine that stands still for as long makes the drain a late one. */
const SPARE_MS = 100;

// At once: they wait, most of the time.
describe('the time of a drain', { concurrency: true }, () => {
  it('is for a handler that needs six seconds of eight, where nothing else needs it', async (t) => {
    await playedFairly(SPARE_MS, async () => {
      const host = await slowHost(t);
      const run = await host.start();
      await host.busy(6_000);

      const { output, ms } = await host.stop(run);

      assert.doesNotMatch(output, /drain was cut/);
      assert.ok(ms < 8_000, `it took ${ms} ms`);
      await host.start();
      assert.equal((await host.handled()).attempts, 1);
      await until(async () => (await host.answers()).length > 0, { what: 'the answer', timeoutMs: WAIT_MS });
      assert.deepEqual([await host.answers(), host.runs()], [['run 1 is over'], 1]);
    });
  });

  it('ends for a handler that needs more: all is closed in time, and it is handled once after the next start', async (t) => {
    await playedFairly(SPARE_MS, async () => {
      const host = await slowHost(t, { stopTimeoutSeconds: 4 });
      const run = await host.start();
      await host.busy(600_000);

      const { output, ms } = await host.stop(run);

      assert.match(output, /"name":"handlers","count":1,"reason":"1 did not end: they run again at the next start"/);
      assert.doesNotMatch(output, /"name":"(engine|database|http|http connections|worker)","count"/);
      assert.ok(ms < 4_000, `it took ${ms} ms`);
      assert.equal(existsSync(`${host.project.paths.database}-wal`), false, 'the database was not closed');
      await host.start();
      assert.ok((await host.handled()).attempts >= 2); // a third where the cut one was noted in time: it waited for its turn
      await until(async () => (await host.answers()).length > 0, { what: 'the answer', timeoutMs: WAIT_MS });
      assert.deepEqual([await host.answers(), host.runs()], [['run 2 is over'], 2]);
    });
  });
});
