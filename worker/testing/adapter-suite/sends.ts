// Promises of an adapter about sends.
import assert from 'node:assert/strict';
import { compose, MOST_PARTS } from '../../outbox/compose.ts';
import type { Outgoing, SendResult } from '../../sdk/adapter.ts';
import type { RawRequest } from '../../sdk/request.ts';
import { finds, given, idempotent, type Lack, needs, overHttp, seen } from './lack.ts';
import { assertFailed, type Promised, postTo, type Trial } from './trial.ts';

async function sendsOnce({ bench, definition: { can }, fixtures, online }: Trial): Promise<void> {
  await online(bench);
  const post = postTo(fixtures);
  const [first, again] = [await bench.send(post), await bench.send(post)];
  assert.equal(first.kind, 'sent', `the platform's side takes the send: ${JSON.stringify(first)}`);
  const { message = 'm' }: { readonly message?: unknown } = first;
  assert.ok(typeof message === 'string' && message !== '', 'the id of a message is a text, or it has none');
  if ((can.idempotent ?? false) !== false)
    assert.deepEqual(again, first, 'with can.idempotent the same key is the same message');
}

/** Asserts a `later` with this wait, for the send alone or for its account. */
export function assertLater(result: SendResult, afterMs: number, what?: string): void {
  const { kind, afterMs: told } = { afterMs: undefined, ...result };
  assert.deepEqual({ kind, afterMs: told }, { kind: 'later', afterMs }, what);
}

/** Asserts a `later` with any wait above 0. Some platforms give no time, or encode it in their own way. */
export function assertWaits(result: SendResult, what?: string): void {
  assert.equal(result.kind, 'later', what);
  assert.ok(result.kind === 'later' && result.afterMs > 0, what);
}

/** Each response is tried in a life of its own: an account may pause sends for as long as the platform asked. */
async function passesRefusals({ bench, open, fixtures, platform }: Trial): Promise<void> {
  const post = postTo(fixtures);
  platform.next({ status: 429, headers: { 'retry-after': '7' } });
  assertLater(await bench.send(post), 7_000, '429 with Retry-After: 7 is later, by 7 s');
  const next = open();
  platform.next({ status: 400 });
  assert.equal((await next.send(post)).kind, 'refused', 'what the platform answers with 400 is refused');
  platform.next({ status: 503 });
  const before = platform.asked.length;
  const later = await next.send(post).catch(() => undefined);
  assert.notEqual(later?.kind, 'refused', 'what a platform out of order does not take comes again: later, or a throw');
  if (later?.kind === 'sent') assert.ok(platform.asked.length > before + 1, 'a platform out of order has not taken it');
}

const WAIT_MS = 1_000;

/** Both sends are under way when the platform asks to wait. Like the host, the test retries each after its wait, in the order of the outbox. */
async function waitsForBoth({ bench, fixtures, platform, silence }: Trial): Promise<void> {
  const { conversation = 'room', elsewhere = conversation } = fixtures;
  const texts = ['zq000001z', 'zq000002z'];
  const posts = texts.map((text, i) => ({
    ...postTo(fixtures, { key: `wait ${i}`, text }),
    conversation: i === 0 ? conversation : elsewhere,
  }));
  const shownFrom = (at: number): readonly string[] =>
    platform.asked.slice(at).flatMap((request) => [...new Set(textIn(request).match(MARK))]);

  platform.always({ status: 429, headers: { 'retry-after': `${WAIT_MS / 1_000}` } });
  const told = await Promise.all(posts.map((post) => bench.send(post)));
  const asked = shownFrom(0).length;
  platform.always(undefined);
  const waits = told.map((result) => (result.kind === 'later' ? result.afterMs : Number.NaN));
  for (const [i, ms] of waits.entries())
    assert.ok(
      ms > 0 && ms <= WAIT_MS,
      `${posts[i]?.conversation} waits, for as long as was said: ${JSON.stringify(told[i])}`,
    );
  assert.ok(asked <= posts.length, `one call a send, and the host repeats: ${asked}`);

  const end = performance.now() + Math.max(...waits);
  await silence.until(() => {
    silence.note(); // the suite waits, not the adapter
    return performance.now() > end;
  }, 'the end of the wait');
  const before = platform.asked.length;
  const results = [];
  for (const post of posts) results.push((await bench.send(post)).kind);
  assert.deepEqual(results, ['sent', 'sent'], 'the wait is over');
  assert.deepEqual(shownFrom(before), texts, 'each is taken once, in order');
}

/** The same without HTTP. A new life need not wait. */
async function waitsOverConnection({ bench, fixtures, online, open }: Trial): Promise<void> {
  const { conversation = 'room', elsewhere = conversation, slows, taken } = fixtures;
  const texts = ['zq000001z', 'zq000002z'];
  const posts = texts.map((text, i) => ({
    ...postTo(fixtures, { key: `wait ${i}`, text }),
    conversation: i === 0 ? conversation : elsewhere,
  }));
  await online(bench);
  slows?.(WAIT_MS);
  for (const result of await Promise.all(posts.map((post) => bench.send(post)))) assertWaits(result);
  slows?.(undefined);
  bench.stop();
  const next = open();
  await online(next);
  const before = taken?.().length ?? 0;
  const results = [];
  for (const post of posts) results.push((await next.send(post)).kind);
  assert.deepEqual(results, ['sent', 'sent'], 'the wait is over');
  const shown = taken?.().slice(before).join('\n').match(MARK) ?? [];
  assert.deepEqual([...new Set(shown)], texts, 'each is taken, in order');
}

async function isRefused({ bench, fixtures, online }: Trial): Promise<void> {
  await online(bench);
  fixtures.refuses?.();
  const first = await bench.send(postTo(fixtures));
  assert.equal(first.kind, 'refused');
  assert.ok(first.kind === 'refused' && first.reason !== '', 'with a reason');
  assert.equal((await bench.send(postTo(fixtures, { key: 'k2' }))).kind, 'sent', 'the next one is taken');
}

async function endsAccount({ bench, fixtures, platform }: Trial): Promise<void> {
  platform.next({ status: 401 });
  await assert.rejects(bench.send(postTo(fixtures)), { code: 'account_failed', remedy: /./ });
}

/** Calls that the host would not make; a plugin of another version might cause them. */
const cannot = ({ can }: Trial['definition'], conversation: string): readonly Outgoing[] => {
  const base = { conversation, message: 'm' };
  return [
    ...(can.react === true ? [] : [{ ...base, kind: 'react', key: 'k2', emoji: 'x', on: true } as const]),
    ...(can.remove === true ? [] : [{ ...base, kind: 'remove', key: 'k3' } as const]),
    ...(can.typing === true ? [] : [{ ...base, kind: 'typing', key: 'k4' } as const]),
  ];
};
const canAll: Lack = (definition) =>
  cannot(definition, 'room').length === 0
    ? { reason: 'it can react, remove and show that it types: there is nothing to refuse' }
    : undefined;

async function refusesWhatItCannot({ bench, definition, fixtures, online }: Trial): Promise<void> {
  await online(bench);
  for (const call of cannot(definition, fixtures.conversation ?? 'room'))
    assert.equal((await bench.send(call)).kind, 'refused', call.kind);
}

/** The text is split by the host's own code. The fixtures' platform refuses a part that is too long. */
async function sendsParts({ bench, definition: { can }, fixtures, online, platform }: Trial): Promise<void> {
  await online(bench);
  const words = wordsOver(can.text.limit * 3);
  const segments = [{ kind: 'text', text: words.join(' ') }] as const;
  const parts = compose({ segments, buttons: [], files: [] }, can, { private: false });
  const before = fixtures.taken?.().length;
  assert.ok(parts.length > 2 && parts.length <= MOST_PARTS, `${parts.length} parts`);
  for (const [i, part] of parts.entries()) {
    assert.notEqual(part.kind, 'refused');
    const { text } = part as { readonly text: string };
    const { kind } = await bench.send(postTo(fixtures, { key: `part ${i}`, text }));
    assert.equal(kind, 'sent', `part ${i + 1} of ${parts.length} is taken`);
  }
  const seen = fixtures.platform === undefined ? fixtures.taken?.().slice(before) : platform.asked.map(textIn);
  if (seen === undefined) return;
  // A request may hold its text twice: to show, and to read aloud.
  const taken = seen.flatMap((text) => [...new Set(text.match(MARK))]);
  assert.deepEqual(taken, words.join(' ').match(MARK), 'every word is taken, once and in order');
}

/** Every word holds characters that need escaping, and characters of more than one unit. */
const wordsOver = (size: number): readonly string[] =>
  Array.from({ length: Math.ceil(size / 14) }, (_, i) => `zq${String(i).padStart(6, '0')}zü😀<_*`);
const MARK = /zq\d{6}z/g;
const textIn = ({ path, query, body }: RawRequest): string =>
  `${path} ${JSON.stringify(query)} ${Buffer.from(body).toString()}`;

/** The platform has taken the send, and the process died before it knew. */
async function repeatsAfterCrash({ bench, fixtures, online, open, platform }: Trial): Promise<void> {
  const post = postTo(fixtures);
  const asked = (): number => (fixtures.platform === undefined ? fixtures.taken?.() : platform.asked)?.length ?? 0;
  if (fixtures.platform !== undefined) platform.loseNext();
  await online(bench);
  const before = asked();
  await bench.send(post).catch(() => {});
  assert.ok(asked() > before, 'the platform is asked, and its answer is lost');
  bench.stop();
  const lives = [open(), open()];
  const results = [];
  for (const life of lives) {
    await online(life);
    const count = asked();
    results.push(await life.send(post));
    assert.ok(asked() > count, 'a process that knows nothing asks the platform');
  }
  assert.equal(results[0]?.kind, 'sent');
  assert.deepEqual(results[1], results[0], 'the same message each time');
}

async function endsConnection({ refusal }: Trial): Promise<void> {
  assertFailed(await refusal());
}

/** A new process knows of the earlier attempt only from `repeat` and `search`. */
async function findsWhatIsThere({ bench, fixtures, online, open }: Trial): Promise<void> {
  const [post, from] = [postTo(fixtures), Date.now()];
  await online(bench);
  const first = await bench.send(post);
  bench.stop();
  const next = open();
  await online(next);
  const again = await next.send({ ...post, repeat: true, search: { from, others: [] } });
  assert.equal(again.kind, 'sent');
  assert.deepEqual(again, first, 'what is there is found, and not made again');
}

export const SENDS: readonly Promised[] = [
  { title: 'a send has a result, and the same key gives the same message', unless: idempotent, keep: sendsOnce },
  { title: 'a send has a result', insteadOf: idempotent, keep: sendsOnce },
  { title: 'passes Retry-After on, refuses what the platform refuses', unless: overHttp, keep: passesRefusals },
  {
    title: 'two sends to two conversations wait while the platform asks for it, and are taken in order after that',
    unless: overHttp,
    keep: waitsForBoth,
  },
  {
    title:
      'waits as its platform asks, over its connection: two sends to two conversations are taken in order after that',
    insteadOf: overHttp,
    lack: needs(given('slows'), given('taken')),
    keep: waitsOverConnection,
  },
  { title: 'refuses what its platform refuses', insteadOf: overHttp, lack: given('refuses'), keep: isRefused },
  { title: 'a refused token ends the account with a remedy', unless: overHttp, keep: endsAccount },
  {
    title: 'a connection with a refused token ends the account with a remedy',
    insteadOf: overHttp,
    lack: given('refused'),
    keep: endsConnection,
  },
  { title: 'what it cannot do is refused, never thrown', lack: canAll, keep: refusesWhatItCannot },
  {
    title: 'sends a text of several times its limit in parts, whole and in order',
    unless: seen,
    keep: sendsParts,
  },
  { title: 'sends a text of several times its limit in parts', insteadOf: seen, keep: sendsParts },
  { title: 'a send that a crash repeats is the same message', lack: needs(idempotent, seen), keep: repeatsAfterCrash },
  {
    title: 'a send that is told of an attempt before it is the message that is there',
    lack: finds,
    keep: findsWhatIsThere,
  },
];
