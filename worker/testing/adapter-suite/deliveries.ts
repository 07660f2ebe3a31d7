// Promises of an adapter about its webhook.
import assert from 'node:assert/strict';
import type { RawRequest } from '../../sdk/request.ts';
import { given, has, needs } from './lack.ts';
import { goodOf, idsOf, isAcknowledged, type Promised, type Trial, toldOf } from './trial.ts';

const DAY_MS = 86_400_000;

async function storesMessages({ bench, fixtures }: Trial): Promise<void> {
  const answer = await bench.deliver(goodOf(fixtures));
  assert.ok(isAcknowledged(answer), `fixtures.good is verified and acknowledged: ${toldOf(bench, answer)}`);
  const isWhole = bench.stored.some(
    (one) =>
      ((one.kind === 'message' && one.message !== '') || (one.kind === 'command' && one.name !== '')) &&
      one.user.id !== '' &&
      one.conversation.id !== '',
  );
  assert.ok(isWhole, `one of the arrivals is a whole message, or a command: ${toldOf(bench, answer)}`);
}

async function takesOnce({ bench, fixtures }: Trial): Promise<void> {
  await bench.deliver(goodOf(fixtures));
  const count = bench.stored.length;
  await bench.deliver(goodOf(fixtures));
  assert.equal(bench.stored.length, count, 'what is delivered again has the id that it had');
}

async function refusesChanges({ bench, fixtures }: Trial): Promise<void> {
  const good = goodOf(fixtures);
  const { unsigned = [] } = fixtures;
  const changed = [0, good.body.length >> 1, good.body.length - 1].map((at) => ({
    what: `fixtures.good with another byte ${at}`,
    request: { ...good, body: Uint8Array.from(good.body, (byte, i) => (i === at ? byte ^ 1 : byte)) },
  }));
  const bare = { what: 'fixtures.good without headers', request: { ...good, headers: {} } };
  const old = {
    what: 'fixtures.good a day later (of a signature that covers no time: unsigned: ["time"])',
    request: { ...good, receivedAt: good.receivedAt + DAY_MS },
  };
  const refused = [...(unsigned.includes('bytes') ? [] : changed), bare, ...(unsigned.includes('time') ? [] : [old])];
  for (const { what, request } of refused)
    assert.equal((await bench.deliver(request)).status, 401, `${what} is refused with 401`);
  assert.equal(bench.stored.length, 0, 'nothing of what was refused is stored');
}

/** The bot's own messages are ignored. Otherwise two bots would answer each other forever. */
async function ignoresItsOwn({ bench, fixtures }: Trial): Promise<void> {
  assert.ok(fixtures.own);
  const answer = await bench.deliver(fixtures.own());
  assert.ok(
    isAcknowledged(answer),
    `what the account said is verified and acknowledged as well: ${toldOf(bench, answer)}`,
  );
  assert.notDeepEqual(answer.json, { parked: true }, `what the account said is understood: ${toldOf(bench, answer)}`);
  assert.deepEqual(idsOf(bench), [], 'nothing of fixtures.own is stored: its user is marked with self');
}

async function keepsOrder({ bench, fixtures }: Trial): Promise<void> {
  const { several, order = [] } = fixtures;
  assert.ok(several);
  assert.ok(order.length > 1, 'fixtures.order names what fixtures.several holds: two messages or more');
  for (const [i, delivery] of several().entries()) {
    const answer = await bench.deliver(delivery);
    assert.ok(isAcknowledged(answer), `fixtures.several[${i}] is acknowledged: ${toldOf(bench, answer)}`);
  }
  assert.deepEqual(idsOf(bench), order, 'what fixtures.several holds is stored, in the order of fixtures.order');
  const places = new Set(bench.stored.map(({ conversation }) => conversation.id));
  assert.equal(places.size, 1, 'they are of one conversation');
}

/**
 * A delivery is acknowledged only once it is stored. Until then the platform resends it, perhaps to another process. The adapter's memory of the
 * first delivery must not matter.
 */
async function outlivesCrashes({ bench, fixtures, open }: Trial): Promise<void> {
  const others = (): readonly RawRequest[] => fixtures.several?.() ?? [];
  for (const delivery of [goodOf(fixtures), ...others()]) await bench.deliver(delivery);
  const expected = idsOf(bench);

  let isFull = true;
  const life = open({
    store: (commit) => {
      if (isFull) throw new Error('not stored');
      commit();
    },
  });
  assert.ok(!isAcknowledged(await life.deliver(goodOf(fixtures))), 'what is not stored is not acknowledged');
  isFull = false;
  assert.ok(isAcknowledged(await life.deliver(goodOf(fixtures))));
  const first = idsOf(life);
  assert.notEqual(first.length, 0, 'what was not stored is taken when it comes again');
  assert.deepEqual(first, expected.slice(0, first.length), 'what was not stored is taken when it comes again');

  const next = open({ committed: life.committed });
  for (const delivery of [...others(), goodOf(fixtures)]) assert.ok(isAcknowledged(await next.deliver(delivery)));
  assert.deepEqual(idsOf(next), expected, 'after a crash what is stored is known by its id, and what is new is taken');
}

/** An adapter may have accounts with and without a webhook address. Accounts with one are tried by their own fixtures. */
async function takesNone({ bench }: Trial): Promise<void> {
  const request = { method: 'POST', path: '', query: {}, headers: {}, body: Buffer.from('{}'), receivedAt: 0 };
  const { status } = await bench.deliver(request);
  assert.equal(
    status,
    404,
    'an account with an address: the suite needs fixtures.good, a delivery with a good signature',
  );
}

const delivered = needs(has('webhook'), given('good'));

export const DELIVERIES: readonly Promised[] = [
  { title: 'stores a verified message, with ids of its own', lack: delivered, keep: storesMessages },
  { title: 'takes a delivery once', lack: delivered, keep: takesOnce },
  {
    title: 'refuses any changed byte, a missing and an old signature',
    lack: delivered,
    part: (_, { unsigned = [] }) =>
      unsigned.length === 0
        ? undefined
        : { reason: `not tried: the signature does not cover the ${unsigned.join(' and the ')}` },
    keep: refusesChanges,
  },
  {
    title: 'acknowledges what the account itself said, and stores nothing of it',
    lack: needs(delivered, given('own')),
    keep: ignoresItsOwn,
  },
  { title: 'stores several messages in their order', lack: needs(delivered, given('several')), keep: keepsOrder },
  {
    title: 'takes once what was delivered before a crash, stored or not',
    lack: delivered,
    keep: outlivesCrashes,
  },
  {
    title: 'has no address where its platform is to deliver nothing',
    insteadOf: (definition, fixtures) =>
      definition.webhook === undefined ? undefined : given('good')(definition, fixtures),
    keep: takesNone,
  },
];
