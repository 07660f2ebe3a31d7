// What adapters keep for a while, and from where on they look: also when somebody sets the wall clock.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GuildAdmins } from '../../../worker/adapters/discord/guild-admins.ts';
import { lookedTo } from '../../../worker/adapters/github/connect.ts';
import { administratorsOf, contextOf } from '../../../worker/adapters/telegram/parse.ts';
import { secret } from '../../../worker/sdk/secret.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-01-10T00:00:00Z');

describe('the administrators of a group of Telegram', () => {
  it('are asked for again after five minutes that have passed, whatever the wall clock shows', async (t) => {
    let passed = 1_000;
    t.mock.method(performance, 'now', () => passed);
    t.mock.timers.enable({ apis: ['Date'], now: NOW });
    const account = { token: secret('42:AA'), mode: 'webhook' as const, secrets: [], username: 'svc_bot', apiUrl: '' };
    const asked: string[] = [];
    const answers = [['ann'], ['bob']];
    administratorsOf(account).open(async (chat) => {
      asked.push(chat);
      return answers[asked.length - 1] ?? [];
    });
    const look = async (user: string): Promise<boolean> => {
      contextOf(account, Date.now()).isAdmin('-1', user);
      await new Promise((resolve) => setImmediate(resolve));
      return contextOf(account, Date.now()).isAdmin('-1', user);
    };

    const first = await look('ann');
    t.mock.timers.setTime(NOW + DAY_MS);
    const ahead = [await look('ann'), asked.length];
    t.mock.timers.setTime(NOW - DAY_MS);
    passed += 5 * MINUTE_MS;
    const later = [await look('bob'), await look('ann'), asked.length];

    assert.deepEqual([first, ahead, later], [true, [true, 1], [true, false, 2]]);
  });
});

describe('the administrators of a server of Discord', () => {
  const guild = (owner: string) => ({ owner_id: owner, roles: [{ id: 'r1', permissions: '8' }] });

  it('are asked for again after ten minutes, a minute after a failure, and when roles change', async () => {
    const admins = new GuildAdmins();
    const asked: number[] = [];
    const prepare = (now: number, answer: () => object): Promise<void> =>
      admins.prepare(['g', 'g'], now, async () => {
        asked.push(now);
        return answer() as never;
      });
    const fails = (): never => {
      throw new Error('busy');
    };

    await prepare(0, fails);
    const unknown = admins.isAdmin('g', 'ann', []);
    for (const now of [MINUTE_MS - 1, MINUTE_MS, 11 * MINUTE_MS - 1]) await prepare(now, () => guild('ann'));
    const known = [admins.isAdmin('g', 'ann', []), admins.isAdmin('g', 'bob', ['r1']), admins.isAdmin('g', 'bob', [])];
    await prepare(11 * MINUTE_MS, () => guild('bob'));
    admins.forget('g');
    const forgotten = admins.isAdmin('g', 'bob', []);
    await prepare(11 * MINUTE_MS, () => guild('bob'));

    assert.deepEqual(asked, [0, MINUTE_MS, 11 * MINUTE_MS, 11 * MINUTE_MS]);
    assert.deepEqual([unknown, known, forgotten], [false, [true, true, false], false]);
  });
});

describe('what GitHub could not deliver', () => {
  it('is looked for from the cursor on, at most three days back', () => {
    const at = (ms: number): string => new Date(ms).toISOString();

    assert.equal(lookedTo(at(NOW - DAY_MS), NOW), NOW - DAY_MS);
    assert.equal(lookedTo(at(NOW - 9 * DAY_MS), NOW), NOW - 3 * DAY_MS);
    assert.equal(lookedTo(undefined, NOW), NOW - 3 * DAY_MS);
    assert.equal(lookedTo('nothing', NOW), NOW - 3 * DAY_MS);
  });

  it('is looked for in all of three days by a cursor of a clock that was ahead', () => {
    assert.equal(lookedTo(new Date(NOW + DAY_MS).toISOString(), NOW), NOW - 3 * DAY_MS);
  });
});
