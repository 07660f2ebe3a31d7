// How much of the inbox is open: counted once, however often it is read.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OpenItems } from '../../../worker/inbox/open-items.ts';
import { definePlugin } from '../../../worker/sdk/index.ts';
import { engineHost } from '../../support/hosts/engine-host.ts';

describe('OpenItems', () => {
  it('counts what is stored once, also when a start whose storage failed reads it again', async (t) => {
    const held = new Promise<void>(() => {});
    const slow = definePlugin({ name: 'slow', setup: (p) => p.on('message', {}, () => held) });
    const host = await engineHost(t, { modules: { slow } });
    for (const from of ['ann', 'ann', 'bob']) await host.platform.says('x', { from });
    const [stored] = host.rows<{ bytes: number }>('SELECT sum(bytes) AS bytes FROM inbox');
    const open = new OpenItems();

    for (let start = 0; start < 2; start += 1) await open.load(host.core.reader);

    assert.deepEqual([open.items, open.bytes], [3, stored?.bytes]);
    const [lane = ''] = host
      .rows<{ lane: string }>("SELECT lane FROM inbox WHERE lane LIKE '%bob%'")
      .map((row) => row.lane);
    const one = { endpoint: 'root/memory:memory~a', kind: 'arrival', bytes: 1 } as const;
    assert.deepEqual(
      [...open.held].map(([endpoint, { items, bytes }]) => [endpoint, items, bytes]),
      [[one.endpoint, 3, stored?.bytes]],
    );
    open.remove({ ...one, lane });
    assert.deepEqual([open.isIdle(lane), open.items], [true, 2]);
  });

  it('counts what is stored as done for the bounds while it is on its way, and never for its lane (OPEN-ITEMS-2)', () => {
    const open = new OpenItems();
    const item = { endpoint: 'a', kind: 'arrival', lane: 'l', bytes: 7, state: 'done' } as const;

    open.add(item);
    const onItsWay = [open.items, open.bytes, open.isIdle('l')];
    open.remove(item);

    assert.deepEqual([onItsWay, open.items, open.bytes], [[1, 7, true], 0, 0]);
  });
});
