// Promises of an adapter about two accounts in one process, and about secrets.
import assert from 'node:assert/strict';
import type { Bench } from './adapter-bench.ts';
import { live } from './connections.ts';
import { eitherGiven, given, has, heard, needs, overHttp } from './lack.ts';
import { assertFailed, goodOf, idsOf, isAcknowledged, type Promised, postTo, type Trial } from './trial.ts';

const WEBHOOK = 'https://bot.example/webhooks/bench';

/** Platforms number deliveries for each account separately. Equal ids of two accounts must not make one item. */
async function deliversToBoth(trial: Trial): Promise<void> {
  const { fixtures, open } = trial;
  const [one, two] = [trial.bench, open({ endpoint: 'another' })];
  await one.deliver(goodOf(fixtures));
  assert.deepEqual(idsOf(two), [], 'what one has stored is not seen in the other');
  assert.ok(isAcknowledged(await two.deliver(goodOf(fixtures))));
  assert.notEqual(one.stored.length, 0);
  assert.deepEqual(two.stored, one.stored, 'the same delivery is an item of each');
}

/** Both accounts send with the same key, because a key is unique only within its account. */
async function sendsForBoth({ bench, fixtures, platform, another, online }: Trial): Promise<void> {
  const other = await another();
  await online(bench);
  await online(other.bench);
  for (const of of [bench, other.bench]) {
    const before = [platform.asked.length, other.platform.asked.length];
    assert.equal((await of.send(postTo(fixtures))).kind, 'sent');
    if (fixtures.platform === undefined) continue;
    const now = [platform.asked.length > (before[0] ?? 0), other.platform.asked.length > (before[1] ?? 0)];
    assert.deepEqual(now, [of === bench, of !== bench], 'each asks its own platform, and no other');
  }
}

/** Both accounts are connected at the same time, and the first one leaves once it has everything. */
async function connectsBoth(trial: Trial): Promise<void> {
  const { bench, fixtures, another } = trial;
  const { history = [] } = fixtures;
  const { bench: other, platform } = await another();
  const theirs = { ...trial, platform };
  const hasAll = ({ stored }: Bench): boolean => stored.length >= history.length;
  let isLeft = false;
  const hears = live(theirs, other, { isEnough: () => isLeft && hasAll(other) });
  await live(trial, bench, { isEnough: () => hasAll(bench) });
  isLeft = true;
  const lost = await hears;
  // With HTTP the platform may have ended the connection after sending everything.
  if (fixtures.platform === undefined) assert.equal(lost, undefined, 'the end of one is not that of the other');
  else await live(theirs, other, { isEnough: () => hasAll(other) });
  assert.deepEqual(idsOf(bench), history);
  assert.equal(other.stored.length, history.length, 'each has all that came to it');
  if (fixtures.other === undefined) assert.deepEqual(idsOf(other), history);
}

async function failsAlone({ bench, fixtures, platform, another, refusal, online }: Trial): Promise<void> {
  const other = (await another()).bench;
  await online(other);
  if (fixtures.platform === undefined) assertFailed(await refusal());
  else {
    platform.next({ status: 401 });
    assertFailed(await bench.send(postTo(fixtures)).catch((error: unknown) => error));
  }
  assert.equal((await other.send(postTo(fixtures))).kind, 'sent', 'the other account goes on');
}

async function keepsSecrets(trial: Trial): Promise<void> {
  const { bench, definition, fixtures, platform, online, refusal } = trial;
  if (fixtures.good !== undefined) await bench.deliver(fixtures.good());
  await online(bench);
  await bench.send(postTo(fixtures));
  const said: unknown[] = [];
  if (fixtures.platform !== undefined && fixtures.history !== undefined) {
    const lost = await live(trial, bench, { isEnough: () => true });
    said.push(wordsOf(lost?.error));
    if (definition.connect !== undefined) said.push(wordsOf(await refusal()));
  }
  if (fixtures.platform !== undefined) {
    for (const status of [400, 401]) {
      platform.next({ status });
      said.push(await bench.send(postTo(fixtures)).catch(wordsOf));
    }
  } else if (fixtures.refused !== undefined) said.push(wordsOf(await refusal()));
  const kept = JSON.stringify([bench.logs, bench.stored, bench.cursor]);
  const faults = JSON.stringify(said);
  for (const secret of fixtures.secrets) {
    assert.ok(!kept.includes(secret), 'a secret is in the logs or in what is stored');
    // A short secret may be part of an ordinary word.
    assert.ok(secret.length < SHORT || !faults.includes(secret), 'a secret is in a fault');
  }
}

const SHORT = 8;

function wordsOf(error: unknown): unknown {
  const { remedy, cause } = (error ?? {}) as { readonly remedy?: unknown; readonly cause?: unknown };
  return [String(error), remedy, String(cause)];
}

/** For any response of the platform the check throws nothing, gives every fault a remedy, and shows no secret. */
async function checksItself({ bench, fixtures, platform, online }: Trial): Promise<void> {
  await online(bench);
  const found = [...(await bench.check(WEBHOOK))];
  platform.next({ status: 401 });
  found.push(...(await bench.check(WEBHOOK)));
  for (const { name, status, detail, remedy = '' } of found) {
    assert.match(name, /^[a-z][a-z0-9-]*$/);
    assert.notEqual(detail, '', name);
    assert.ok(status !== 'error' || remedy !== '', `${name} says what mends it`);
  }
  const seen = JSON.stringify([found, bench.logs]);
  for (const secret of fixtures.secrets) assert.ok(!seen.includes(secret), 'a secret is told');
}

export const ACCOUNTS: readonly Promised[] = [
  {
    title: 'two accounts: the same delivery is an item of each',
    lack: needs(has('webhook'), given('good')),
    keep: deliversToBoth,
  },
  {
    title: 'two accounts: each sends to its own platform, the same key too',
    unless: overHttp,
    keep: sendsForBoth,
  },
  { title: 'two accounts: each sends, the same key too', insteadOf: overHttp, keep: sendsForBoth },
  {
    title: 'two accounts: each hears what comes to it, also when the other has left',
    lack: needs(has('connect'), heard),
    keep: connectsBoth,
  },
  {
    title: 'two accounts: a refused token ends one, not the other',
    lack: eitherGiven('refused', 'platform'),
    keep: failsAlone,
  },
  {
    title: 'checks itself without a throw, with remedies and without a secret',
    lack: has('check'),
    keep: checksItself,
  },
  {
    title: 'no secret in logs, in faults or in what is stored',
    lack: (_, { secrets }) =>
      secrets.length === 0 ? { of: 'secrets', reason: 'fixtures.secrets is empty' } : undefined,
    part: eitherGiven('refused', 'platform'),
    keep: keepsSecrets,
  },
];
