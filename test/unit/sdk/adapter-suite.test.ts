// How the suite of adapters waits: it cuts a connection that is there, and gives an adapter up that is silent.
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { type AdapterModule, type Arrival, defineAdapter } from '../../../worker/sdk/index.ts';
import { CONNECTIONS } from '../../../worker/testing/adapter-suite/connections.ts';
import type { Fixtures } from '../../../worker/testing/adapter-suite/fixtures.ts';
import { SENDS } from '../../../worker/testing/adapter-suite/sends.ts';
import { isSilence } from '../../../worker/testing/adapter-suite/silence.ts';
import { onTrial } from '../../../worker/testing/adapter-suite/trial.ts';

const can = { text: { limit: 100, unit: 'utf16', render: 'plain' } } as const;
const arrival = (id: string): Arrival => ({
  id,
  kind: 'message',
  message: id,
  text: id,
  sentAt: 0,
  conversation: { id: 'room', kind: 'group' },
  user: { id: 'ann', name: 'Ann', admin: false },
});

async function tried(context: TestContext, title: RegExp, adapter: AdapterModule, more: Partial<Fixtures>) {
  const promised = [...CONNECTIONS, ...SENDS].find((one) => title.test(one.title));
  assert.ok(promised);
  await onTrial(context, { adapter, fixtures: { account: () => ({}), secrets: [], ...more } }, promised);
}

it('a connection is cut at the first commit that stores an arrival, not at a first cursor', async (context) => {
  let cuts = 0;
  let end: (() => void) | undefined;
  const adapter = defineAdapter({
    name: 'wire',
    account: {},
    can,
    async connect(link) {
      if (link.cursor === undefined) await link.receive([], '0');
      const ended = new Promise<void>((resolve, reject) => {
        end = () => reject(new Error('cut'));
        link.signal.addEventListener('abort', () => resolve());
      });
      ended.catch(() => {});
      link.online();
      for (const id of ['a', 'b'].slice(Number(link.cursor))) {
        await link.receive([arrival(id)], String(Number(link.cursor) + 1));
        await Promise.race([ended, new Promise((resolve) => setImmediate(resolve))]);
      }
      await ended;
      end = undefined;
    },
    send: async () => ({ kind: 'sent' }),
  });
  const cut = (): void => {
    cuts += 1;
    assert.ok(end, 'there is a connection to cut');
    end();
  };

  await tried(context, /the next brings what is missing, once/, adapter, { history: ['a', 'b'], cut });

  assert.equal(cuts, 1);
});

it('an adapter that is silent, or never done, is given up with what it was waited for', async (context) => {
  const silent = (send: () => Promise<never>, connect?: () => Promise<never>): AdapterModule =>
    defineAdapter({ name: 'silent', account: {}, can, send, ...(connect === undefined ? {} : { connect }) });
  const never = (): Promise<never> => new Promise(() => {});
  const fails = (what: RegExp) => (error: unknown) => isSilence(error) && what.test(String(error));

  await assert.rejects(
    tried(context, /^a send has a result$/, silent(never), { timeoutMs: 50 }),
    fails(/nothing happened for 0\.05 s, and the suite waited for the end of a call of the adapter/),
  );
  await assert.rejects(
    tried(context, /^brings over its connection/, silent(never, never), { timeoutMs: 50, history: ['a', 'b'] }),
    fails(/waited for what the connection brings, or its end/),
  );
});

it('an adapter that goes on and on is given up too', async (context) => {
  const noisy = defineAdapter({
    name: 'noisy',
    account: {},
    can,
    async connect(link) {
      link.online();
      while (!link.signal.aborted) {
        await link.receive([], 'x');
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
    send: async () => ({ kind: 'sent' }),
  });
  await assert.rejects(
    tried(context, /^brings over its connection/, noisy, { timeoutMs: 500, history: ['a', 'b'] }),
    (error: unknown) => isSilence(error) && /the promise was not kept in 3 s/.test(String(error)),
  );
});
