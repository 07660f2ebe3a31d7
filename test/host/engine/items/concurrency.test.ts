// How many messages are handled at once: one of a conversation, and as many as the configuration says of an endpoint and in all.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { definePlugin } from '../../../../worker/sdk/index.ts';
import { engineHost } from '../../../support/hosts/engine-host.ts';

const [A, B] = ['root/memory:memory~a', 'root/memory:memory~b'];
const PEOPLE = 6;

/** Each of six people writes to both accounts; gives who was handled side by side, until all were. */
async function together(t: TestContext, inbox: Readonly<Record<string, number>>) {
  const running: { readonly place: string; readonly end: () => void }[] = [];
  const sides: (readonly string[])[] = [];
  let handled = 0;
  const slow = definePlugin({
    name: 'slow',
    setup(p) {
      p.on('message', {}, async ({ conversation }) => {
        await new Promise<void>((end) => running.push({ place: `${conversation.endpoint} ${conversation.id}`, end }));
        handled += 1;
      });
    },
  });
  const plugins = { memory: { endpoints: [{ id: 'a' }, { id: 'b' }] } };
  const host = await engineHost(t, { modules: { slow }, config: { inbox, plugins } });
  for (const endpoint of [A, B])
    for (let person = 0; person < PEOPLE; person += 1)
      for (const text of ['one', 'two']) await host.platform.says(text, { endpoint, from: `p${person}` });
  await host.quiet();
  while (running.length > 0) {
    sides.push(running.map(({ place }) => place));
    for (const { end } of running.splice(0)) end();
    await host.quiet();
  }
  return { sides, handled };
}

const most = (sides: readonly (readonly string[])[], endpoint = ''): number =>
  Math.max(...sides.map((side) => side.filter((one) => one.startsWith(endpoint)).length));

describe('messages handled at once', () => {
  it('are as many as inbox.endpointConcurrency of one account, and the other has its own', async (t) => {
    const { sides, handled } = await together(t, { endpointConcurrency: 2 });

    assert.deepEqual([most(sides, A), most(sides, B), most(sides)], [2, 2, 4]);
    assert.equal(handled, 4 * PEOPLE);
  });

  it('are as many as inbox.concurrency in all', async (t) => {
    const { sides, handled } = await together(t, { concurrency: 3 });

    assert.equal(most(sides), 3);
    assert.ok(sides.some((side) => [A, B].every((endpoint) => side.some((one) => one.startsWith(endpoint)))));
    assert.equal(handled, 4 * PEOPLE);
  });

  it('are one of a conversation, whatever is allowed', async (t) => {
    const { sides, handled } = await together(t, {});

    assert.equal(most(sides), 2 * PEOPLE);
    assert.ok(sides.every((side) => new Set(side).size === side.length));
    assert.equal(handled, 4 * PEOPLE);
  });
});
