// One message of a stranger against the built host: texts that keep a matcher busy, and items that end or hang the process each time. The host goes
// on, the supervisor is never spent, and the item says what became of it.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ask } from '../../support/process/supervised.ts';
import { portProject, svc } from '../../support/svc-command.ts';
import { until } from '../../support/until.ts';

const PLUGIN = `import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'own', setup(p) {
  const phrases = ['move {what} from {src} to {dst} by {when} please'];
  const words = { what: t.rest(), src: t.string(), dst: t.string(), when: t.string() };
  p.command('move', { summary: 'Moves', phrases, args: words }, () => 'moved');
  p.command('code', { summary: 'Takes a code', args: { code: t.string({ pattern: '^(a+)+$' }) } }, () => 'taken');
  p.on('message', { name: 'letters', text: /^(a+)+$/ }, () => 'letters');
  p.on('message', { name: 'all', order: 'after' }, async (ctx, { text }) => {
    if (text === 'spin') for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20); // as a loop holds it
    if (text === 'die') process.kill(process.pid, 'SIGKILL');
    if (text === 'wait') while (!existsSync('open')) await pause(10);
    return 'heard ' + text.slice(0, 8);
  });
} });`;

const RECIPE = `move ${' from'.repeat(190)}${' to'.repeat(300)}${' by'.repeat(400)}`;
const NEVER_ENDS = `${'a'.repeat(60)}!`;

interface Item {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly lastError: string | null;
  readonly nextAt: string | null;
  readonly handlers?: readonly { readonly handler: string; readonly verdict: string; readonly error: string }[];
}

interface Status {
  readonly state: string;
  readonly ready: boolean;
  readonly pid: number | null;
  readonly budget: { readonly limit: number; readonly left: number };
  readonly exits: readonly { readonly reason: string }[];
}

async function daemon(t: TestContext, keys: Readonly<Record<string, unknown>> = {}) {
  const project = await portProject(t, {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    keys: { plugins: { sandbox: {}, own: { use: './plugins/own.mjs' } }, ...keys },
    plugins: { 'own.mjs': PLUGIN },
  });
  const started = await svc(['runtime', 'start', '--daemon', '--json'], { cwd: project.path });
  assert.equal(started.code, 0, started.stderr);
  const headers = { authorization: `Bearer ${project.env['HTTP_TOKEN']}`, 'content-type': 'application/json' };
  const get = async (path: string): Promise<unknown> => (await fetch(project.url + path, { headers })).json();
  let said = 0;
  const status = async (): Promise<Status> => (await ask(`${project.paths.stateDir}/control.sock`, 'status')) as Status;
  const items = async (): Promise<readonly Item[]> =>
    ((await get('/api/inbox?limit=100')) as { readonly items: readonly Item[] }).items;
  return {
    project,
    status,
    items,
    /** Says it until it is taken: a worker may be gone before it has answered. */
    async say(person: string, text: string): Promise<void> {
      said += 1;
      const body = JSON.stringify({ person, text, delivery: `d${said}` });
      await until(
        async () => (await fetch(`${project.url}/api/chat/say`, { method: 'POST', headers, body })).status === 202,
        { what: `${text.slice(0, 20)} to be taken` },
      );
    },
    /** What the bot has told a person. */
    async told(person: string, count: number): Promise<readonly string[]> {
      const found = await until(
        async () => {
          const { messages } = (await get(`/api/chat/messages?person=${person}`)) as {
            readonly messages: readonly { readonly from: string; readonly text: string }[];
          };
          const texts = messages.filter(({ from }) => from !== person).map(({ text }) => text);
          return texts.length >= count ? texts : undefined;
        },
        { what: `${count} answers for ${person}` },
      );
      return found;
    },
    item: async (id: string): Promise<Item> => (await get(`/api/inbox/${id}`)) as Item,
    itemIn: (state: string): Promise<Item> =>
      until(async () => (await items()).find((one) => one.state === state), { what: `an item that is ${state}` }),
    log: () => project.read('.svc/runtime.log'),
  };
}

describe('a message of a stranger', { concurrency: 3, timeout: 900_000 }, () => {
  it('is told from a phrase whatever it repeats, in an idle lane and in a busy one', async (t) => {
    const host = await daemon(t);
    const { pid } = await host.status();

    await host.say('idle', RECIPE);
    await host.say('idle', `${RECIPE} please`);
    await host.say('busy', 'wait');
    await host.say('busy', RECIPE);
    host.project.write('open', '');

    assert.deepEqual(await host.told('idle', 2), ['heard move  fr', 'moved']);
    assert.deepEqual(await host.told('busy', 2), ['heard wait', 'heard move  fr']);
    assert.deepEqual(
      (await host.items()).map(({ state, attempts }) => `${state} ${attempts}`),
      Array(4).fill('done 1'),
    );
    assert.equal((await host.status()).pid, pid, 'it is the same worker');
  });

  it('costs a listener whose pattern never ends that item, and nobody else', async (t) => {
    const host = await daemon(t);
    const { pid } = await host.status();

    for (let n = 0; n < 3; n += 1) await host.say('ann', NEVER_ENDS);
    await host.say('ann', 'aaa');
    await host.say('ann', `/code ${NEVER_ENDS}`);
    await host.say('ann', '/code aaa');

    const told = await host.told('ann', 7);
    assert.deepEqual(told.slice(0, 5), [...Array(3).fill('heard aaaaaaaa'), 'letters', 'heard aaa']);
    assert.match(told[5] ?? '', /^code: expected text like /);
    assert.equal(told[6], 'taken');
    const dead = await Promise.all(
      (await host.items()).filter(({ state }) => state === 'dead').map(({ id }) => host.item(id)),
    );
    assert.equal(dead.length, 3);
    for (const { lastError, attempts, handlers } of dead) {
      assert.match(lastError ?? '', /^root\/own#on\/letters: its pattern \/\^\(a\+\)\+\$\/ took more than 100 ms/);
      assert.equal(attempts, 1);
      assert.deepEqual(handlers?.map(({ handler, verdict }) => [handler, verdict]).sort(), [
        ['root/own#on/all', 'done'],
        ['root/own#on/letters', 'dead'],
      ]);
    }
    assert.equal((await host.status()).pid, pid, 'it is the same worker');
    assert.equal(host.log().split('the pattern of a listener took too long').length, 2, 'it is said once a minute');
    assert.match(host.log(), /"plugin":"root\/own".*"capability":"root\/own#on\/letters"/);
  });

  for (const [what, text] of [
    ['keeps the loop of its worker busy for ever', 'spin'],
    ['ends its worker', 'die'],
  ] as const)
    it(`costs two deaths where it ${what}, and is set aside`, async (t) => {
      const host = await daemon(t, { supervisor: { stopTimeoutSeconds: 3 } });

      await host.say('mallory', text);
      await host.say('mallory', 'behind it');
      const aside = await host.itemIn('waiting');

      assert.equal((await host.item(aside.id)).lastError, 'in hand at 2 deaths of the process');
      assert.ok(Date.parse(aside.nextAt ?? '') > Date.now(), 'it comes again later');
      assert.equal(aside.attempts, 2);
      await host.say('ann', 'hello');
      assert.deepEqual(await host.told('ann', 1), ['heard hello']);
      const status = await host.status();
      assert.deepEqual([status.state, status.ready, status.exits.length], ['running', true, 2]);
      assert.ok(status.budget.left > 0);
      assert.match(host.log(), new RegExp(`in hand at 2 deaths of the process: svc inbox show ${aside.id}`));
      assert.equal((await host.items()).filter(({ state }) => state === 'received').length, 1, 'its lane waits');
    });

  it('costs one death less where another of its kind came before it', async (t) => {
    // The rest after four deaths is shown with a clock that is moved by hand: host/engine/items/quarantine.test.ts.
    const host = await daemon(t);

    for (const person of ['m1', 'm2']) await host.say(person, 'die');
    // An item beside the third death would be set aside with it.
    const aside = async () => (await host.items()).filter(({ state }) => state === 'waiting').length === 2;
    await until(aside, { what: 'both to be set aside' });
    await host.say('ann', 'hello');

    assert.deepEqual(await host.told('ann', 1), ['heard hello']);
    const { state, ready, exits, budget } = await host.status();
    assert.deepEqual([state, ready, exits.length], ['running', true, 3]);
    assert.ok(budget.left > 0);
  });

  it('is a dead letter in the end, and its lane goes on', async (t) => {
    const host = await daemon(t, { inbox: { quarantineSeconds: 1, maxAttempts: 3 }, supervisor: { restarts: 50 } });

    await host.say('mallory', 'die');
    await host.say('mallory', 'behind it');
    assert.deepEqual(await host.told('mallory', 1), ['heard behind i']);

    const dead = await host.itemIn('dead');
    assert.match((await host.item(dead.id)).lastError ?? '', /ended the process or was cut 3 times/);
    assert.equal((await host.status()).exits.length, 3);
  });
});
