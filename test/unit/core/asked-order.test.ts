// What `svc plugins list` says of the order of handlers, against the routing that obeys it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Capabilities } from '../../../worker/handling/plan/capabilities.ts';
import { route } from '../../../worker/handling/plan/routing.ts';
import { askedOrder } from '../../../worker/runtime/generations/asked-order.ts';
import type { Arrival } from '../../../worker/sdk/index.ts';

const listener = (slot: string, name: string, order?: 'before' | 'normal' | 'after') =>
  ({
    kind: 'on',
    slot,
    name,
    spec: { on: 'message', ...(order === undefined ? {} : { order }) },
    run: () => {},
    uses: [],
  }) as const;
const line = (text: string): Arrival => ({
  kind: 'message',
  id: '1',
  message: 'm',
  conversation: { id: 'c', kind: 'private' },
  user: { id: 'u', name: 'u', admin: false },
  sentAt: 0,
  text,
});

it('handlers are listed in the order in which a message gets to them', () => {
  const capabilities = new Capabilities();
  capabilities.add(listener('a', 'last', 'after'));
  capabilities.add(listener('a', 'plain'));
  capabilities.add({ kind: 'command', slot: 'a', name: 'go', spec: { summary: '' }, run: () => {}, uses: [] });
  capabilities.add(listener('b', 'first', 'before'));
  capabilities.add(listener('b', 'also', 'normal'));
  const listed = askedOrder(capabilities);
  const steps = (text: string): string[] =>
    route(line(text), { dialog: undefined, pressed: undefined }, { endpoint: 'e', capabilities, prefix: '/' }).flatMap(
      (step) => ('capability' in step ? [step.capability.id] : []),
    );

  assert.deepEqual(
    listed.map(({ asked, capability }) => `${asked} ${capability}`),
    [
      'before root/b#on/first',
      'claims root/a#command/go',
      'normal root/a#on/plain',
      'normal root/b#on/also',
      'after root/a#on/last',
    ],
  );
  const ids = (...whens: readonly string[]): string[] =>
    listed.filter(({ asked }) => whens.includes(asked)).map(({ capability }) => capability);
  assert.deepEqual(steps('/go'), ids('before', 'claims'));
  assert.deepEqual(steps('hello'), ids('before', 'normal', 'after'));
});
