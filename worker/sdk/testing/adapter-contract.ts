// The suite that every adapter runs: `node:test` tests, one for each promise of an adapter.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdapterModule, Outgoing } from '../adapter.ts';
import { readAdapter } from '../definition.ts';
import type { HttpAnswer, RawRequest } from '../request.ts';
import { adapterBench, type Bench } from './adapter-bench.ts';
import { loopback } from './loopback.ts';

export interface Fixtures {
  /** One endpoints[] entry, for a platform at this address. */
  account(url: string): Record<string, unknown>;
  /** The platform's side, by its documentation. */
  platform(request: RawRequest): HttpAnswer;
  /** A delivery with a good signature that holds at least one whole message. */
  good(): RawRequest;
  /** Texts that may never be in a log or in what is stored. */
  readonly secrets: readonly string[];
  /** Ids of what `catchUp` brings, in order, without our own. */
  readonly history?: readonly string[];
}

const POST: Outgoing = { kind: 'post', key: 'k1', conversation: 'room', text: 'hi', buttons: [], files: [] };
const DAY_MS = 86_400_000;

type Promised = (bench: Bench, next: (answer: HttpAnswer) => void) => Promise<void>;

/** Registers the tests. */
export function adapterContract(adapter: AdapterModule, fixtures: Fixtures): void {
  const { can, name } = readAdapter(adapter);
  for (const [title, run] of Object.entries(promises(fixtures, can))) {
    // The runner waits for what is registered.
    void test(`${name}: ${title}`, async (t) => {
      let forced: HttpAnswer | undefined;
      const url = await loopback(t, (request) => {
        const answer = forced ?? fixtures.platform(request);
        forced = undefined;
        return answer;
      });
      const bench = adapterBench(adapter, fixtures.account(url));
      t.after(() => bench.stop());
      await run(bench, (answer) => {
        forced = answer;
      });
    });
  }
}

function promises(
  fixtures: Fixtures,
  can: { readonly idempotent?: boolean; readonly react?: boolean; readonly remove?: boolean },
): Record<string, Promised> {
  const { history } = fixtures;
  return {
    async 'stores a verified message, with ids of its own'(bench) {
      assert.ok(((await bench.deliver(fixtures.good())).status ?? 200) < 300, 'a verified delivery is acknowledged');
      assert.ok(
        bench.stored.some(
          (one) => one.kind === 'message' && one.message !== '' && one.user.id !== '' && one.conversation.id !== '',
        ),
        'one of the arrivals is a whole message',
      );
    },
    async 'takes a delivery once'(bench) {
      await bench.deliver(fixtures.good());
      const count = bench.stored.length;
      await bench.deliver(fixtures.good());
      assert.equal(bench.stored.length, count);
    },
    async 'refuses any changed byte, a missing and an old signature'(bench) {
      const good = fixtures.good();
      const places = [0, good.body.length >> 1, good.body.length - 1];
      const changed = places.map((at) => ({
        ...good,
        body: Uint8Array.from(good.body, (byte, i) => (i === at ? byte ^ 1 : byte)),
      }));
      for (const bad of [...changed, { ...good, headers: {} }, { ...good, receivedAt: good.receivedAt + DAY_MS }])
        assert.equal((await bench.deliver(bad)).status, 401);
      assert.equal(bench.stored.length, 0);
    },
    async 'a send has a result, and the same key gives the same message'(bench) {
      const [first, again] = [await bench.send(POST), await bench.send(POST)];
      assert.equal(first.kind, 'sent');
      if (can.idempotent === true) assert.deepEqual(again, first);
    },
    async 'passes Retry-After on, refuses what the platform refuses'(bench, next) {
      next({ status: 429, headers: { 'retry-after': '7' } });
      assert.deepEqual(await bench.send(POST), { kind: 'later', afterMs: 7_000 });
      next({ status: 400 });
      assert.equal((await bench.send(POST)).kind, 'refused');
    },
    async 'a refused token ends the account with a remedy'(bench, next) {
      next({ status: 401 });
      await assert.rejects(bench.send(POST), { code: 'account_failed', remedy: /./ });
    },
    async 'what it cannot do is refused, never thrown'(bench) {
      const base = { conversation: 'room', message: 'm' };
      if (can.react !== true)
        assert.equal((await bench.send({ ...base, kind: 'react', key: 'k2', emoji: 'x', on: true })).kind, 'refused');
      if (can.remove !== true) assert.equal((await bench.send({ ...base, kind: 'remove', key: 'k3' })).kind, 'refused');
    },
    ...(history === undefined
      ? {}
      : {
          async 'catches up once, from the committed cursor, without its own messages'(bench: Bench) {
            for (let pass = 0; pass < 2; pass += 1) {
              await bench.catchUp();
              assert.deepEqual(
                bench.stored.map(({ id }) => id),
                history,
              );
            }
            assert.notEqual(bench.cursor, undefined);
          },
        }),
    async 'no secret in logs or in what is stored'(bench) {
      await bench.deliver(fixtures.good());
      await bench.send(POST);
      const seen = JSON.stringify([bench.logs, bench.stored]);
      for (const secret of fixtures.secrets)
        assert.ok(!seen.includes(secret), 'a secret is in the logs or in what is stored');
    },
  };
}
