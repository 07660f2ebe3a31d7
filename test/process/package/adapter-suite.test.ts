// The suite of adapters finds what is wrong: each of its promises is broken by an adapter that has one fault, and kept by one that has none.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Fault } from '../../support/fixture-programs/faulty-adapter.ts';

const PROGRAM = fileURLToPath(new URL('../../support/fixture-programs/faulty-adapters.ts', import.meta.url));
const SOUND: readonly Fault[] = [
  'is-sound',
  'is-sound-and-catches-up',
  'is-sound-and-hears-nothing',
  'is-sound-and-changes',
];
const [WHOLE, ONCE, CHANGED, OWN, ORDER, REPEATED, ADDRESS] = [
  'stores a verified message, with ids of its own',
  'takes a delivery once',
  'refuses any changed byte, a missing and an old signature',
  'acknowledges what the account itself said, and stores nothing of it',
  'stores several messages in their order',
  'takes once what was delivered before a crash, stored or not',
  'has no address where its platform is to deliver nothing',
] as const;
const [SENT, LATER, BOTH_WAIT, REFUSED, CANNOT, PARTS, RESENT] = [
  'a send has a result, and the same key gives the same message',
  'passes Retry-After on, refuses what the platform refuses',
  'two sends to two conversations wait while the platform asks for it, and are taken in order after that',
  'a refused token ends the account with a remedy',
  'what it cannot do is refused, never thrown',
  'sends a text of several times its limit in parts, whole and in order',
  'a send that a crash repeats is the same message',
] as const;
const [EDITED, REACTED, REMOVED, CHANGES] = [
  'edits its message, and takes an edit that a crash repeats',
  'reacts, and takes it back',
  'removes its message',
  'passes Retry-After and a refused token on from edits, reactions and removals',
] as const;
const [WIRE_WAITS, WIRE_REFUSES, WIRE_TOKEN, WIRE_CHANGES] = [
  'waits as its platform asks, over its connection: two sends to two conversations are taken in order after that',
  'refuses what its platform refuses',
  'a connection with a refused token ends the account with a remedy',
  'has edits, reactions and removals wait as its platform asks',
] as const;
const [CAUGHT, UP, HEARD, CUT, LOST, KILLED, NO_ROOM] = [
  'catches up once, from the committed cursor, without its own messages',
  'comes online over its connection, twice, and ends an account whose token is refused',
  'brings over its connection what came, once and in order',
  'a connection that the platform ends is lost, not the account: another one comes up',
  'a connection that the platform ends is lost, not the account: the next brings what is missing, once',
  'loses nothing and brings nothing twice over a crash before and after each commit',
  'brings again what the host could not store, whatever comes behind it',
] as const;
const [BOTH_STORE, BOTH_SEND, BOTH_HEAR, FAILS_ALONE, CHECKED, SECRETS] = [
  'two accounts: the same delivery is an item of each',
  'two accounts: each sends to its own platform, the same key too',
  'two accounts: each hears what comes to it, also when the other has left',
  'two accounts: a refused token ends one, not the other',
  'checks itself without a throw, with remedies and without a secret',
  'no secret in logs, in faults or in what is stored',
] as const;

/** Which promises each fault breaks, and no other. */
const BROKEN: Partial<Record<Fault, readonly string[]>> = {
  'stores-no-message': [WHOLE],
  'verifies-nothing': [CHANGED],
  'stores-its-own-deliveries': [OWN, ORDER],
  'reverses-a-delivery': [ORDER],
  'drops-what-it-has-seen': [REPEATED],
  'numbers-in-memory': [ORDER, REPEATED],
  'ignores-the-key': [SENT, RESENT],
  'throws-at-429': [LATER, BOTH_WAIT],
  'refuses-the-second-that-has-to-wait': [BOTH_WAIT],
  'refuses-at-401': [REFUSED, FAILS_ALONE],
  'refuses-at-503': [LATER],
  'numbers-its-messages': [SENT],
  'throws-at-what-it-cannot': [CANNOT],
  'names-a-limit-that-is-too-high': [PARTS],
  'cuts-the-text': [PARTS],
  'knows-keys-by-heart': [RESENT],
  'waits-with-a-refused-token': [UP],
  'fails-the-account-when-cut': [CUT, LOST],
  'knows-deliveries-of-all-accounts': [REPEATED, BOTH_STORE],
  'knows-keys-of-all-accounts': [RESENT, BOTH_SEND],
  'fails-all-accounts': [FAILS_ALONE],
  'has-faults-without-remedy': [CHECKED],
  'tells-its-token': [SECRETS],
  'tells-its-token-when-it-connects': [SECRETS],
  'throws-its-token-when-it-is-refused': [SECRETS],
  'has-an-address-all-the-same': [ADDRESS],
  'tells-no-cursor': [CAUGHT],
  'edits-nothing': [EDITED, CHANGES],
  'edits-with-the-old-text': [EDITED],
  'refuses-an-edit-that-changes-nothing': [EDITED],
  'reacts-to-take-it-back': [REACTED],
  'removes-nothing': [REMOVED, CHANGES],
  'waits-for-what-is-gone': [REMOVED],
  'throws-at-429-of-a-change': [CHANGES],
  'refuses-at-401-of-a-change': [CHANGES],
};
/** Of platforms without HTTP; a sound one has another list of promises. */
const BROKEN_WITHOUT_HTTP: Partial<Record<Fault, readonly string[]>> = {
  'throws-when-it-has-to-wait': [WIRE_WAITS, WIRE_CHANGES],
  'says-sent-when-it-is-refused': [WIRE_REFUSES],
  'goes-on-with-a-refused-token': [WIRE_TOKEN],
  'forgets-to-wait-with-a-change': [WIRE_CHANGES],
};
/** These, or others before them that were waited for in vain, for a second of silence: the rest is skipped then. */
const BROKEN_AT_LEAST: Partial<Record<Fault, readonly string[]>> = {
  'makes-up-ids': [ONCE],
  'brings-its-own': [HEARD],
  'is-silent-when-cut': [LOST],
  'moves-its-cursor-first': [KILLED],
  'goes-on-behind-what-is-not-stored': [NO_ROOM],
  'hears-for-all-accounts': [BOTH_HEAR],
  'goes-on-when-it-is-told-to-end': [UP],
};

/** Every adapter that is judged here. The suite is run once over each, in two processes, since one waits while the other works. */
const WITHOUT_HTTP: readonly Fault[] = ['is-sound-without-http', 'is-sound-without-http-and-throws-at-its-end'];
const FOR_LONG: Fault = 'is-sound-and-catches-up-for-long';
const faultsOf = (of: Partial<Record<Fault, readonly string[]>>): Fault[] => Object.keys(of) as Fault[];
const RUNS: readonly (readonly Fault[])[] = [
  [...SOUND, ...faultsOf(BROKEN)],
  [FOR_LONG, ...WITHOUT_HTTP, ...faultsOf(BROKEN_WITHOUT_HTTP), ...faultsOf(BROKEN_AT_LEAST)],
];

describe('the suite of adapters', () => {
  before(() => Promise.all(RUNS.map(suiteOver)));

  it('finds nothing against an adapter that keeps its promises, and what is broken by each that does not', () => {
    for (const name of SOUND) assert.deepEqual(failed.get(name) ?? [], [], name);
    for (const name of faultsOf(BROKEN)) assert.deepEqual(failed.get(name), BROKEN[name], name);
    const atLeast = faultsOf(BROKEN_AT_LEAST);
    for (const name of atLeast)
      assert.deepEqual(
        BROKEN_AT_LEAST[name]?.filter(
          (title) => failed.get(name)?.includes(title) !== true && !isInVain(skipped.get(name)?.get(title)),
        ),
        [],
        name,
      );
    for (const name of atLeast) assert.notDeepEqual(failed.get(name) ?? [], [], name);
    const broken = new Set([...Object.values(BROKEN), ...Object.values(BROKEN_AT_LEAST)].flat());
    const kept = SOUND.flatMap((name) => passed.get(name) ?? []);
    assert.deepEqual(
      kept.filter((title) => !broken.has(title)),
      [],
      'each promise can be broken',
    );
    assert.ok(kept.length > 30, `${kept.length} promises were kept`);
  });

  it('finds what is broken where the platform has no HTTP, too', () => {
    for (const name of WITHOUT_HTTP) assert.deepEqual(failed.get(name) ?? [], [], name);
    for (const title of [WIRE_WAITS, WIRE_REFUSES, WIRE_TOKEN, WIRE_CHANGES])
      assert.ok(passed.get('is-sound-without-http')?.includes(title), title);
    for (const name of faultsOf(BROKEN_WITHOUT_HTTP))
      assert.deepEqual(failed.get(name), BROKEN_WITHOUT_HTTP[name], name);
    const rest = skipped.get('goes-on-with-a-refused-token');
    for (const title of [UP, FAILS_ALONE, SECRETS]) assert.ok(isInVain(rest?.get(title)), title);
  });

  it('takes the end of a connection for no fault of what was being caught up with', () => {
    assert.deepEqual(failed.get(FOR_LONG) ?? [], []);
    assert.ok(passed.get(FOR_LONG)?.includes(UP));
  });

  it('says with what a promise was broken, and what the adapter made of it', () => {
    assert.match(told.get('verifies-nothing') ?? '', /fixtures\.good with another byte 0 is refused with 401/);
    assert.match(
      told.get('stores-no-message') ?? '',
      /one of the arrivals is a whole message, or a command: \{"status":200/,
    );
  });

  it('names every promise for every adapter, and why one is not tried', () => {
    const all = SOUND.map((name) => [...(passed.get(name) ?? []), ...(skipped.get(name)?.keys() ?? [])].toSorted());
    assert.ok((all[0] ?? []).length > 30);
    for (const titles of all) assert.deepEqual(titles, all[0]);
    for (const name of SOUND)
      for (const [title, reason] of skipped.get(name) ?? []) assert.ok(reason.length > 10, `${name}: ${title}`);
    const deaf = skipped.get('is-sound-and-hears-nothing');
    for (const title of [HEARD, LOST, KILLED, NO_ROOM, BOTH_HEAR])
      assert.match(deaf?.get(title) ?? '', /history is empty/);
    for (const title of [UP, CUT]) assert.ok(passed.get('is-sound-and-hears-nothing')?.includes(title), title);
    assert.match(skipped.get('is-sound')?.get(CAUGHT) ?? '', /no catchUp/);
    assert.match(skipped.get('is-sound')?.get(EDITED) ?? '', /can.edit is not set/);
    assert.match(skipped.get('is-sound-and-catches-up')?.get(UP) ?? '', /no connect/);
  });
});

const isInVain = (reason: string | undefined): boolean =>
  reason?.startsWith('not tried, because the suite waited in vain') === true;

/** By adapter: titles in the order of the suite, of those that were skipped with the reason, and all that was printed of those that failed. */
const [failed, passed] = [new Map<string, string[]>(), new Map<string, string[]>()];
const skipped = new Map<string, Map<string, string>>();
const told = new Map<string, string>();

/** A line of TAP with what it says below it, up to the next one. */
const RESULT = /^(not )?ok \d+ - ([\w-]+): (.*)$((?:\n(?!(?:not )?ok ).*)*)/gm;

async function suiteOver(faults: readonly Fault[]): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--import', 'tsx', '--test-reporter=tap', PROGRAM, ...faults];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env,
    maxBuffer: 64 * 1_048_576,
  }).catch((error: { readonly stdout: string }) => error);
  for (const [, not, name = '', line = '', why = ''] of stdout.matchAll(RESULT)) {
    const [title = '', reason] = line.replaceAll('\\', '').split(' # SKIP ');
    if (reason !== undefined) {
      skipped.set(name, new Map([...(skipped.get(name) ?? []), [title, reason]]));
      continue;
    }
    const of = not === undefined ? passed : failed;
    of.set(name, [...(of.get(name) ?? []), title]);
    if (not !== undefined) told.set(name, (told.get(name) ?? '') + why);
  }
}
