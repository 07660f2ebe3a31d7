// Dead letters, calls that are made once, dialogs and buttons, over restarts and by the word of an operator.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createInboxAdmin } from '../../../../worker/inbox/inbox-admin.ts';
import { definePlugin, t } from '../../../../worker/sdk/index.ts';
import { type EngineHost, engineHost, type HostOptions } from '../../../support/hosts/engine-host.ts';

const caller = { actor: 'test', scope: 'full' } as never;
const adminOf = ({ core, engine }: EngineHost) =>
  createInboxAdmin({ core, inbox: engine.inbox, dispatcher: engine.dispatcher });
const firstId = (host: EngineHost): string =>
  host.rows<{ id: string }>('SELECT id FROM inbox ORDER BY seq')[0]?.id ?? '';

describe('a page of items', () => {
  it('is of an endpoint by its full name or its short one, and of no other', async (context) => {
    const host = await engineHost(context, {});
    await host.platform.says('hi');
    await host.quiet();
    const page = async (endpoint: string) =>
      (await adminOf(host).page({ after: undefined, limit: 10, state: undefined, endpoint, texts: false })).total;

    assert.deepEqual(
      [await page('root/memory:memory~a'), await page('memory~a'), await page('memory'), await page('a')],
      [1, 1, 0, 0],
    );
  });
});

describe('a dead letter', () => {
  const failingCommand = (works: () => boolean): HostOptions => ({
    modules: {
      tool: definePlugin({
        name: 'tool',
        setup(p) {
          p.on('message', { order: 'before' }, () => 'heard');
          p.command('do', { summary: 'Does', args: {}, attempts: 1 }, () => {
            if (!works()) throw new Error('broken');
            return 'done';
          });
        },
      }),
    },
  });

  /** A host whose command was called once, and failed. */
  async function failed(context: TestContext, works: () => boolean = () => false): Promise<EngineHost> {
    const host = await engineHost(context, failingCommand(works));
    await host.platform.says('/do');
    await host.quiet();
    return host;
  }

  it('is found by its id or the end of it that people are told, and by nothing else', async (context) => {
    const host = await failed(context);
    const id = firstId(host);
    const admin = adminOf(host);

    assert.equal((await admin.show(id.slice(-12), false)).item['id'], id);
    for (const other of ['____________', `___________${id.at(-1)}`, id.slice(-11), '%'.repeat(12)])
      await assert.rejects(
        admin.drop(other, { caller, revision: undefined, reason: 'not this one' }),
        { code: 'not_found', message: 'no inbox item has this id' }, // a detail never echoes input
        other,
      );
  });

  it('can be replayed: what was finished stays finished', async (context) => {
    let works = false;
    const host = await failed(context, () => works);
    const before = host.platform.said('dm-ann');

    works = true;
    await adminOf(host).replay(firstId(host), { caller, revision: undefined, answer: undefined });
    await host.quiet();

    assert.match(before.join('|'), /^heard\|Sorry, that failed \([0-9a-f]{12}\)\.$/);
    assert.deepEqual(host.platform.said('dm-ann').slice(2), ['done']);
    assert.deepEqual(host.states('inbox'), ['done']);
  });

  it('can be replayed in vain, as often as one likes', async (context) => {
    const host = await failed(context);

    for (let n = 0; n < 3; n += 1) {
      await host.advance(10);
      await adminOf(host).replay(firstId(host), { caller, revision: undefined, answer: undefined });
      await host.quiet();
      assert.deepEqual(host.states('inbox'), ['dead']);
    }

    assert.equal(host.platform.said('dm-ann').filter((text) => text.startsWith('Sorry')).length, 4);
    assert.equal(host.logs.filter(({ message }) => message.includes('could not be run')).length, 0);
  });

  it('can be dropped, and is not replayed afterwards', async (context) => {
    const host = await failed(context);
    const admin = adminOf(host);

    await admin.drop(firstId(host), { caller, revision: undefined, reason: 'nobody cares' });

    assert.deepEqual(host.states('inbox'), ['done']);
    await assert.rejects(admin.replay(firstId(host), { caller, revision: undefined, answer: undefined }), {
      code: 'conflict',
    });
    assert.deepEqual(
      host.events('inbox.dropped').map(({ data }) => data['reason']),
      ['nobody cares'],
    );
  });
});

describe('once', () => {
  const calling = (unsure: 'again' | 'hold', calls: string[], hang: () => boolean) =>
    definePlugin({
      name: 'caller',
      setup(p) {
        p.on('message', {}, async (ctx) => {
          const result = await ctx.once(
            'call',
            async ({ key }) => {
              calls.push(key);
              if (hang()) await new Promise(() => {});
              return { n: calls.length };
            },
            { unsure },
          );
          return `result ${result.n}`;
        });
      },
    });

  /** The process dies in the call, and the next one has done what it can. */
  async function afterDeath(context: TestContext, unsure: 'again' | 'hold') {
    const calls: string[] = [];
    let hangs = true;
    const host = await engineHost(context, { modules: { caller: calling(unsure, calls, () => hangs) } });
    await host.platform.says('x');
    await host.quiet();
    host.kill();
    hangs = false;
    const next = await host.restart(context);
    await next.quiet();
    return { next, calls };
  }

  it('calls again under the same key after a death in the call', async (context) => {
    const { next, calls } = await afterDeath(context, 'again');

    assert.equal(calls.length, 2);
    assert.equal(calls[0], calls[1]);
    assert.deepEqual(next.platform.said('dm-ann'), ['result 2']);
  });

  it('never calls twice where it is told to hold; a person decides', async (context) => {
    const { next, calls } = await afterDeath(context, 'hold');
    const held = [calls.length, ...next.states('inbox')];

    await adminOf(next).replay(firstId(next), { caller, revision: undefined, answer: 'again' });
    await next.quiet();

    assert.deepEqual(held, [1, 'dead']);
    assert.match(
      next.rows<{ last_error: string }>('SELECT last_error FROM inbox')[0]?.last_error ?? '',
      /call: an earlier attempt died/,
    );
    assert.equal(calls.length, 2);
    assert.deepEqual(next.platform.said('dm-ann'), ['result 2']);
  });

  it('asks for the decision before it replays a held call', async (context) => {
    const { next, calls } = await afterDeath(context, 'hold');

    await assert.rejects(adminOf(next).replay(firstId(next), { caller, revision: undefined, answer: undefined }), {
      code: 'conflict',
    });

    assert.equal(calls.length, 1);
  });
});

describe('dialogs and buttons', () => {
  const size = t.enum(['small', 'large'], { title: 'Which size?' });
  const order = definePlugin({
    name: 'order',
    setup(p) {
      const dialog = p.dialog(
        'order',
        { answers: { size, street: t.string({ title: 'Where to?' }) } },
        (_ctx, a) => `${a.size} to ${a.street}`,
      );
      p.command('order', { summary: 'Orders', args: {} }, (ctx) => ctx.ask(dialog, {}));
    },
  });
  const vote = definePlugin({
    name: 'vote',
    setup(p) {
      const press = p.action('press', { data: { n: t.integer() } }, (_ctx, { n }) => `pressed ${n}`);
      p.command('vote', { summary: 'Votes', args: {} }, () => ({
        text: 'Which?',
        buttons: [press.button('one', { n: 1 }), press.button('two', { n: 2 })],
      }));
    },
  });

  it('go on over a restart between all answers', async (context) => {
    let host = await engineHost(context, { modules: { order } });
    for (const line of ['/order', 'large', '12 High Street']) {
      await host.platform.says(line);
      await host.quiet();
      host = await host.restart(context);
    }

    assert.deepEqual(host.platform.said('dm-ann'), ['Which size?', 'Where to?', 'large to 12 High Street']);
  });

  it('press a button after a restart', async (context) => {
    const host = await engineHost(context, { modules: { vote } });
    await host.platform.says('/vote');
    await host.quiet();

    const next = await host.restart(context);
    await next.platform.presses('two');
    await next.quiet();

    assert.deepEqual(next.platform.said('dm-ann'), ['Which?', 'pressed 2']);
  });

  it('take a bare number where the platform has no buttons, from anyone there', async (context) => {
    const { MemoryPlatform } = await import('../../../support/accounts/memory-platform.ts');
    const host = await engineHost(context, { modules: { vote }, platform: new MemoryPlatform({ buttons: 0 }) });
    await host.platform.says('/vote', { room: 'r' });
    await host.quiet();

    await host.platform.says('1', { room: 'r', from: 'bob' });
    await host.quiet();

    assert.deepEqual(host.platform.said('r'), ['Which?\n1) one\n2) two', 'pressed 1']);
  });
});
