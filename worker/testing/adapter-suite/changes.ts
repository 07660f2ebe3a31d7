// Promises of an adapter about edits, removals and reactions, if its platform has them.
import assert from 'node:assert/strict';
import type { Outgoing } from '../../sdk/adapter.ts';
import { CHANGES_OF_A_MESSAGE, type Change, can, canChange, given, needs, overHttp, seen } from './lack.ts';
import { assertLater, assertWaits } from './sends.ts';
import { assertFailed, type Promised, postTo, type Trial } from './trial.ts';

const changeOf = (kind: Change, { fixtures }: Trial, message: string): Outgoing => {
  const base = { key: `k-${kind}`, conversation: fixtures.conversation ?? 'room', message };
  if (kind === 'edit') return { ...postTo(fixtures, { key: base.key, text: CHANGED }), kind, message };
  return kind === 'react' ? { ...base, kind, emoji: '👍', on: true } : { ...base, kind };
};
const CHANGED = 'changed by zq000001z';

/** Sends a message. A platform that supports changes must return an id for it. */
async function posted({ bench, fixtures, online }: Trial): Promise<string> {
  await online(bench);
  const result = await bench.send(postTo(fixtures));
  assert.equal(result.kind, 'sent');
  const { message }: { readonly message?: string } = result;
  assert.ok(message !== undefined, 'what can be changed has an id');
  return message;
}

/** Makes a call that the platform accepts, and returns the requests that it caused. */
async function told(trial: Trial, call: Outgoing): Promise<string> {
  const { bench, fixtures, platform } = trial;
  const all = (): readonly string[] =>
    fixtures.platform === undefined
      ? (fixtures.taken?.() ?? [])
      : platform.asked.map(
          ({ method, path, query, body }) =>
            `${method} ${path} ${JSON.stringify(query)} ${Buffer.from(body).toString()}`,
        );
  const before = all().length;
  assert.equal((await bench.send(call)).kind, 'sent', call.kind);
  const now = all().slice(before);
  assert.notEqual(now.length, 0, `the platform is told: ${call.kind}`);
  return now.join('\n');
}

async function edits(trial: Trial): Promise<void> {
  const edit = changeOf('edit', trial, await posted(trial));
  assert.ok((await told(trial, edit)).includes('zq000001z'), 'with the new text');
  assert.equal((await trial.bench.send(edit)).kind, 'sent', 'what a crash repeats is no fault');
}

async function reacts(trial: Trial): Promise<void> {
  const react = changeOf('react', trial, await posted(trial));
  const on = await told(trial, react);
  const off = await told(trial, { ...react, key: 'k-off', on: false } as Outgoing);
  assert.notEqual(off, on, 'to take one back is another call');
}

async function removes(trial: Trial): Promise<void> {
  const remove = changeOf('remove', trial, await posted(trial));
  await told(trial, remove);
  // The platform may answer a second removal either way.
  const again = await trial.bench.send(remove);
  assert.notEqual(again.kind, 'later', 'what is gone already is not tried for ever');
}

/** Each call has a life of its own: an account may pause sends for as long as the platform asked. */
async function passesOn(trial: Trial): Promise<void> {
  const { open, definition, platform } = trial;
  const message = await posted(trial);
  for (const kind of CHANGES_OF_A_MESSAGE.filter((of) => definition.can[of] === true)) {
    const call = changeOf(kind, trial, message);
    platform.next({ status: 429, headers: { 'retry-after': '7' } });
    assertLater(await open().send(call), 7_000, kind);
    platform.next({ status: 401 });
    assertFailed(
      await open()
        .send(call)
        .catch((error: unknown) => error),
    );
  }
}

/** Without HTTP one life is enough: the platform asks to wait over the same connection. */
async function waits(trial: Trial): Promise<void> {
  const { bench, definition, fixtures } = trial;
  const message = await posted(trial);
  fixtures.slows?.(WAIT_MS);
  for (const kind of CHANGES_OF_A_MESSAGE.filter((of) => definition.can[of] === true))
    assertWaits(await bench.send(changeOf(kind, trial, message)), kind);
}

const WAIT_MS = 7_000;

const taken = needs(given('changes'), seen);

export const CHANGES: readonly Promised[] = [
  { title: 'edits its message, and takes an edit that a crash repeats', lack: needs(can('edit'), taken), keep: edits },
  { title: 'reacts, and takes it back', lack: needs(can('react'), taken), keep: reacts },
  { title: 'removes its message', lack: needs(can('remove'), taken), keep: removes },
  {
    title: 'passes Retry-After and a refused token on from edits, reactions and removals',
    unless: overHttp,
    lack: needs(canChange, taken),
    keep: passesOn,
  },
  {
    title: 'has edits, reactions and removals wait as its platform asks',
    insteadOf: overHttp,
    lack: needs(canChange, taken, given('slows')),
    keep: waits,
  },
];
