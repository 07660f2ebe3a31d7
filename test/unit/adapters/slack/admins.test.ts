// How long the adapter keeps who administers a workspace of slack, and how long anything waits for it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Admins, type AskPerson } from '../../../../worker/adapters/slack/admins.ts';
import type { Arrival } from '../../../../worker/sdk/index.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const wanting = (id: string): Arrival => ({
  kind: 'command',
  id,
  conversation: { id: 'C1', kind: 'group' },
  user: { id, name: id, admin: false },
  sentAt: 0,
  name: 'close',
  args: {},
});
const never = new Promise<never>(() => {});

function asking(ask: AskPerson) {
  const admins = new Admins();
  const asked: string[] = [];
  admins.open((user) => {
    asked.push(user);
    return ask(user);
  });
  const isAdmin = (id: string, now: number): boolean => admins.marked([wanting(id)], now)[0]?.user.admin === true;
  return { admins, asked, isAdmin };
}

describe('administrators of slack', () => {
  it('are kept for ten minutes, then asked for again', async () => {
    let isOne = true;
    const { admins, asked, isAdmin } = asking(async () => isOne);

    await admins.prepare([wanting('U1')], 0);
    await admins.prepare([wanting('U1')], 9 * MINUTE_MS);
    const kept = isAdmin('U1', 9 * MINUTE_MS);
    isOne = false;
    await admins.prepare([wanting('U1')], 11 * MINUTE_MS);

    assert.deepEqual([kept, isAdmin('U1', 11 * MINUTE_MS)], [true, false]);
    assert.deepEqual(asked, ['U1', 'U1']);
  });

  it('are what Slack said last while it cannot be asked, for a day', async () => {
    let ask: AskPerson = async () => true;
    const { admins, isAdmin } = asking((user) => ask(user));
    await admins.prepare([wanting('U1')], 0);

    ask = () => Promise.reject(new Error('no answer'));
    await admins.prepare([wanting('U1')], 60 * MINUTE_MS);

    assert.deepEqual([isAdmin('U1', 60 * MINUTE_MS), isAdmin('U1', DAY_MS + 1)], [true, false]);
  });

  it('are not asked for while Slack wants to be left alone', async () => {
    const { admins, asked } = asking(async () => ({ restMs: 30_000 }));

    for (const [user, now] of [['U1', 0] as const, ['U2', 29_000] as const, ['U3', 31_000] as const])
      await admins.prepare([wanting(user)], now);

    assert.deepEqual(asked, ['U1', 'U3']);
  });

  it('are not waited for again once Slack was late, and count when the answer comes', async () => {
    let answer: (isOne: boolean) => void = () => {};
    const { admins, asked, isAdmin } = asking((user) =>
      user === 'U1' ? new Promise<boolean>((resolve) => (answer = resolve)) : never,
    );

    await admins.prepare([wanting('U1')], 0);
    const next = await Promise.race([
      admins.prepare([wanting('U1'), wanting('U2')], 1_000).then(() => 'goes on'),
      turn('waits'),
    ]);
    answer(true);
    await turn();

    assert.equal(next, 'goes on');
    assert.deepEqual([isAdmin('U1', 2_000), isAdmin('U2', 2_000)], [true, false]);
    assert.deepEqual(asked, ['U1', 'U2'], 'one question at a time for each');
  });

  it('are asked for a few at once', async () => {
    const { admins, asked } = asking(() => never);

    await admins.prepare(
      Array.from({ length: 100 }, (_, n) => wanting(`U${n}`)),
      0,
    );
    for (let n = 100; n < 200; n += 1) admins.marked([wanting(`U${n}`)], 0);

    assert.equal(asked.length, 32);
  });
});
