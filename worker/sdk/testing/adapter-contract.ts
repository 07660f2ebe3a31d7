// The suite that every adapter runs: `node:test` tests, one for each promise of an adapter.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdapterModule, Can, Outgoing } from '../adapter.ts';
import { readAdapter } from '../definition.ts';
import type { HttpAnswer, RawRequest } from '../request.ts';
import { adapterBench, type Bench } from './adapter-bench.ts';
import { loopback, type TestOwner } from './loopback.ts';

export interface Fixtures {
  /** One endpoints[] entry, for a platform at this address. */
  account(url: string): Record<string, unknown>;
  /** The platform's side, by its documentation. Left out where it speaks no HTTP: `account` then names a server of the test's own. */
  platform?(request: RawRequest): HttpAnswer;
  /** A delivery with a good signature that holds at least one whole message. Needed where the adapter has a webhook. */
  good?(): RawRequest;
  /** Texts that may never be in a log or in what is stored. */
  readonly secrets: readonly string[];
  /** Ids of what `catchUp` brings, in order, without our own; of an adapter without it: of what `connect` brings. */
  readonly history?: readonly string[];
  /** What a message is sent to, as the platform names it. Default `room`. */
  readonly conversation?: string;
  /** What the platform's rule does not cover: the bytes (a shared token instead of a signature), the time. Left out: it covers both. */
  readonly unsigned?: readonly ('bytes' | 'time')[];
}

/** Registers the tests. */
export function adapterContract(adapter: AdapterModule, fixtures: Fixtures): void {
  const definition = readAdapter(adapter);
  const { can, name } = definition;
  if (definition.webhook !== undefined && fixtures.good === undefined)
    throw new Error(`${name} has a webhook: the suite needs fixtures.good, a delivery with a good signature`);
  if (definition.webhook === undefined && fixtures.history === undefined)
    throw new Error(`${name} has no webhook: the suite needs fixtures.history, ids of what comes over its connection`);
  for (const [title, keep] of Object.entries(PROMISES)) {
    if (!applies(keep, definition, fixtures)) continue;
    // The runner waits for what is registered.
    void test(`${name}: ${title}`, async (t) => {
      const trial = await prepare(t, adapter, { can, fixtures });
      // Without HTTP what is sent goes over the connection.
      const isHeld = fixtures.platform === undefined && definition.connect !== undefined && keep !== connects;
      if (!isHeld) return keep(trial);
      const connection = trial.bench.connect();
      await connection.online;
      await keep(trial);
      await connection.close();
    });
  }
}

type Promised = (trial: Trial) => Promise<void>;

function applies(keep: Promised, definition: Definition, { history, platform }: Fixtures): boolean {
  const { webhook, catchUp, connect, check } = definition;
  if (DELIVERED.includes(keep)) return webhook !== undefined;
  if (ANSWERED.includes(keep)) return platform !== undefined;
  if (keep === catchesUp) return catchUp !== undefined && history !== undefined;
  if (keep === connects) return connect !== undefined && catchUp === undefined && history !== undefined;
  return keep !== checksItself || check !== undefined;
}

type Definition = ReturnType<typeof readAdapter>;

interface Trial {
  readonly bench: Bench;
  readonly can: Can;
  readonly fixtures: Fixtures;
  /** What the platform answers to the next call, whatever it is. */
  next(answer: HttpAnswer): void;
}

async function prepare(owner: TestOwner, adapter: AdapterModule, of: Pick<Trial, 'can' | 'fixtures'>): Promise<Trial> {
  let forced: HttpAnswer | undefined;
  const url = await loopback(owner, (request) => {
    const answer = forced ?? of.fixtures.platform?.(request) ?? { status: 404 };
    forced = undefined;
    return answer;
  });
  const bench = adapterBench(adapter, of.fixtures.account(url));
  owner.after(() => bench.stop());
  const next = (answer: HttpAnswer): void => {
    forced = answer;
  };
  return { ...of, bench, next };
}

const postTo = ({ conversation = 'room' }: Fixtures): Outgoing => ({
  kind: 'post',
  key: 'k1',
  conversation,
  text: 'hi',
  buttons: [],
  files: [],
});
const DAY_MS = 86_400_000;

const goodOf = ({ good }: Fixtures): RawRequest => {
  assert.ok(good);
  return good();
};

async function storesMessages({ bench, fixtures }: Trial): Promise<void> {
  const { status = 200 } = await bench.deliver(goodOf(fixtures));
  assert.ok(status < 300, 'a verified delivery is acknowledged');
  const isWhole = bench.stored.some(
    (one) =>
      ((one.kind === 'message' && one.message !== '') || (one.kind === 'command' && one.name !== '')) &&
      one.user.id !== '' &&
      one.conversation.id !== '',
  );
  assert.ok(isWhole, 'one of the arrivals is a whole message, or a command');
}

async function takesOnce({ bench, fixtures }: Trial): Promise<void> {
  await bench.deliver(goodOf(fixtures));
  const count = bench.stored.length;
  await bench.deliver(goodOf(fixtures));
  assert.equal(bench.stored.length, count);
}

async function refusesChanges({ bench, fixtures }: Trial): Promise<void> {
  const good = goodOf(fixtures);
  const { unsigned = [] } = fixtures;
  const changed = [0, good.body.length >> 1, good.body.length - 1].map((at) => ({
    ...good,
    body: Uint8Array.from(good.body, (byte, i) => (i === at ? byte ^ 1 : byte)),
  }));
  const old = { ...good, receivedAt: good.receivedAt + DAY_MS };
  const refused = [
    ...(unsigned.includes('bytes') ? [] : changed),
    { ...good, headers: {} },
    ...(unsigned.includes('time') ? [] : [old]),
  ];
  for (const bad of refused) assert.equal((await bench.deliver(bad)).status, 401);
  assert.equal(bench.stored.length, 0);
}

async function sendsOnce({ bench, can, fixtures }: Trial): Promise<void> {
  const post = postTo(fixtures);
  const [first, again] = [await bench.send(post), await bench.send(post)];
  assert.equal(first.kind, 'sent');
  if (can.idempotent === true) assert.deepEqual(again, first);
}

async function passesRefusals({ bench, fixtures, next }: Trial): Promise<void> {
  const post = postTo(fixtures);
  next({ status: 429, headers: { 'retry-after': '7' } });
  assert.deepEqual(await bench.send(post), { kind: 'later', afterMs: 7_000 });
  next({ status: 400 });
  assert.equal((await bench.send(post)).kind, 'refused');
}

async function endsAccount({ bench, fixtures, next }: Trial): Promise<void> {
  next({ status: 401 });
  await assert.rejects(bench.send(postTo(fixtures)), { code: 'account_failed', remedy: /./ });
}

async function refusesWhatItCannot({ bench, can, fixtures }: Trial): Promise<void> {
  const base = { conversation: fixtures.conversation ?? 'room', message: 'm' };
  const calls: readonly Outgoing[] = [
    ...(can.react === true ? [] : [{ ...base, kind: 'react', key: 'k2', emoji: 'x', on: true } as const]),
    ...(can.remove === true ? [] : [{ ...base, kind: 'remove', key: 'k3' } as const]),
  ];
  for (const call of calls) assert.equal((await bench.send(call)).kind, 'refused', call.kind);
}

async function catchesUp({ bench, fixtures }: Trial): Promise<void> {
  for (const pass of ['first', 'second']) {
    await bench.catchUp();
    const ids = bench.stored.map(({ id }) => id);
    assert.deepEqual(ids, fixtures.history, `${pass} time`);
  }
  assert.notEqual(bench.cursor, undefined);
}

/** Online, then what came in order; a second connection brings nothing twice, and ends when it is told to. */
async function connects({ bench, fixtures, next }: Trial): Promise<void> {
  const { history = [] } = fixtures;
  for (const pass of ['first', 'second']) {
    const connection = bench.connect();
    await connection.online;
    await Promise.race([connection.ended, until(() => bench.stored.length >= history.length)]);
    await connection.close();
    const ids = bench.stored.map(({ id }) => id);
    assert.deepEqual(ids, history, `${pass} connection`);
  }
  if (fixtures.platform === undefined) return;
  next({ status: 401 });
  await assert.rejects(bench.connect().ended, { code: 'account_failed', remedy: /./ }, 'a refused token');
}

const LIMIT_MS = 60_000;

async function until(isSo: () => boolean): Promise<void> {
  for (let left = LIMIT_MS; !isSo() && left > 0; left -= 5) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function keepsSecrets({ bench, fixtures }: Trial): Promise<void> {
  if (fixtures.good !== undefined) await bench.deliver(fixtures.good());
  await bench.send(postTo(fixtures));
  const seen = JSON.stringify([bench.logs, bench.stored]);
  for (const secret of fixtures.secrets)
    assert.ok(!seen.includes(secret), 'a secret is in the logs or in what is stored');
}

/** Whatever the platform answers to what it is asked: nothing is thrown, a fault has its remedy, and no secret is told. */
async function checksItself({ bench, fixtures, next }: Trial): Promise<void> {
  const found = [...(await bench.check('https://bot.example/webhooks/bench'))];
  next({ status: 401 });
  found.push(...(await bench.check('https://bot.example/webhooks/bench')));
  for (const { name, status, detail, remedy = '' } of found) {
    assert.match(name, /^[a-z][a-z0-9-]*$/);
    assert.notEqual(detail, '', name);
    assert.ok(status !== 'error' || remedy !== '', `${name} says what mends it`);
  }
  const seen = JSON.stringify([found, bench.logs]);
  for (const secret of fixtures.secrets) assert.ok(!seen.includes(secret), 'a secret is told');
}

const DELIVERED: readonly Promised[] = [storesMessages, takesOnce, refusesChanges];
/** What an answer of HTTP means. */
const ANSWERED: readonly Promised[] = [passesRefusals, endsAccount];

const PROMISES: Readonly<Record<string, Promised>> = {
  'stores a verified message, with ids of its own': storesMessages,
  'takes a delivery once': takesOnce,
  'refuses any changed byte, a missing and an old signature': refusesChanges,
  'a send has a result, and the same key gives the same message': sendsOnce,
  'passes Retry-After on, refuses what the platform refuses': passesRefusals,
  'a refused token ends the account with a remedy': endsAccount,
  'what it cannot do is refused, never thrown': refusesWhatItCannot,
  'catches up once, from the committed cursor, without its own messages': catchesUp,
  'brings over its connection what came, once and in order, and ends an account whose token is refused': connects,
  'checks itself without a throw, with remedies and without a secret': checksItself,
  'no secret in logs or in what is stored': keepsSecrets,
};
