// A daemon of the built host whose plugin does what the first word of a message says, for tests that kill it, stop it or let it hang.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { isAlive } from '../../../shared/process/process-identity.ts';
import { HostApi } from '../../kits/crash/kit/host-api.ts';
import { killIfThere } from '../process/supervised.ts';
import { type Ended, portProject, svc } from '../svc-command.ts';
import { until } from '../until.ts';

/** Notes each message that it begins; what it does then, its first word says, unless the file `calm` is there. */
const ACTS = `import { appendFileSync, existsSync } from 'node:fs';
import { definePlugin, giveUp, retryLater } from 'svc';
export default definePlugin({ name: 'acts', setup(p) {
  p.on('message', {}, async (_ctx, { text }) => {
    appendFileSync('begun', text + '\\n');
    const kind = existsSync('calm') ? 'say' : text.split(' ')[0];
    if (kind === 'hang') for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20); // as a loop holds it
    if (kind === 'die') throw giveUp('no');
    if (kind === 'wait') throw retryLater('not now', { afterMs: 3_600_000 });
    if (kind === 'slow') while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20));
    return 'did ' + text;
  });
} });
`;

export type Item = Readonly<Record<string, unknown>> & { readonly id: string; readonly state: string };

export async function actingHost(t: TestContext, supervisor: Readonly<Record<string, unknown>> = {}) {
  const project = await portProject(t, {
    keys: { plugins: { sandbox: {}, acts: { use: './plugins/acts.mjs' } }, supervisor },
    plugins: { 'acts.mjs': ACTS },
  });
  const run = (...words: string[]): Promise<Ended> => svc(words, { cwd: project.path });
  const host = {
    project,
    api: new HostApi(project.url, project.token),
    run,
    file: (name: string) => join(project.path, name),
    start: async (): Promise<void> => {
      const { code, stdout, stderr } = await run('runtime', 'start', '--daemon');
      assert.equal(code, 0, stdout + stderr);
    },
    worker: () => JSON.parse(readFileSync(project.paths.workerRecord, 'utf8')),
    supervisor: () => JSON.parse(readFileSync(project.paths.supervisorRecord, 'utf8')).supervisor,
    /** No word to anybody. */
    async die(): Promise<void> {
      const processes = [host.supervisor(), host.worker()];
      for (const { pid } of processes) killIfThere(pid); // the kernel may end the worker with its supervisor
      await until(() => processes.every((one) => !isAlive(one)), { what: 'their ends' });
    },
    /** `slow 1` is said by the person `slow`; a lane each. The answer may not come. */
    say: (person: string, text: string) =>
      fetch(`${project.url}/api/chat/say`, {
        method: 'POST',
        headers: { authorization: `Bearer ${project.token}`, 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ person, text, delivery: `${person}: ${text}` }),
      }).then(
        (response) => response.status,
        () => undefined,
      ),
    begun: (): readonly string[] =>
      existsSync(host.file('begun')) ? readFileSync(host.file('begun'), 'utf8').trimEnd().split('\n') : [],
    hasBegun: (text: string) => until(() => host.begun().includes(text), { what: `the begin of ${text}` }),
    async list(...words: string[]): Promise<readonly Item[]> {
      const { code, stdout, stderr } = await run('inbox', 'list', '--json', ...words);
      assert.equal(code, 0, stdout + stderr);
      return JSON.parse(stdout).items;
    },
    /** The item of each text, by what its delivery was called. */
    async items(): Promise<ReadonlyMap<string, Item>> {
      const items = await host.list('--limit', '200');
      return new Map(items.map((item) => [String(item['deliveryId']).replace(/^[^:]*: ?[^:]*: /, ''), item]));
    },
    handled: (text: string) =>
      until(
        async () =>
          (await host.api.inbox()).find((item) => item.deliveryId.endsWith(`: ${text}`))?.state === 'done' || undefined,
        { what: `the end of ${text}`, everyMs: 50 },
      ),
  };
  return host;
}

export type ActingHost = Awaited<ReturnType<typeof actingHost>>;
