// The plugin `work` as a team meets it in a chat, on the real Workroom in memory.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { work } from '../../../worker/plugins/work/index.ts';
import { readLine } from '../../../worker/plugins/work/typed.ts';
import { everyCrash, type TestBot, testBot } from '../../../worker/testing/index.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const at = { board: 'web', now: NOW };

describe('a line after /work', () => {
  const LINES: readonly (readonly [string, unknown])[] = [
    ['', { kind: 'list', filter: 'all' }],
    ['list mine', { kind: 'list', filter: 'mine' }],
    ['new Renew the certificate', { kind: 'new', board: 'web', title: 'Renew the certificate' }],
    ['new ops: Restore test', { kind: 'new', board: 'ops', title: 'Restore test' }],
    ['take 7', { kind: 'take', item: 'web-7' }],
    ['TAKE WEB-7', { kind: 'take', item: 'web-7' }],
    ['submit web-7 done at last', { kind: 'submit', item: 'web-7', text: 'done at last' }],
    ['assign 7 @Bob', { kind: 'assign', item: 'web-7', member: 'bob' }],
    ['due 7 2d', { kind: 'due', item: 'web-7', due: NOW + 172_800_000 }],
    ['due 7 2026-02-01', { kind: 'due', item: 'web-7', due: Date.parse('2026-02-01T23:59:59Z') }],
    ['due 7 none', { kind: 'due', item: 'web-7', due: null }],
    [
      'block 7 dependency needs 3 until 1h waits for the page',
      {
        kind: 'block',
        item: 'web-7',
        blocker: 'dependency',
        needs: 'web-3',
        until: NOW + 3_600_000,
        reason: 'waits for the page',
      },
    ],
    [
      'block 7 external by ann waiting for DNS',
      { kind: 'block', item: 'web-7', blocker: 'external', by: 'ann', reason: 'waiting for DNS' },
    ],
    ['unblock 7 b2', { kind: 'unblock', item: 'web-7', blocker: 'b2' }],
    [
      'ask 7 ann Which colour?',
      { kind: 'block', item: 'web-7', blocker: 'human_input', by: 'ann', reason: 'Which colour?' },
    ],
    ['answer 7 b1 Blue', { kind: 'answer', item: 'web-7', blocker: 'b1', text: 'Blue' }],
    ['approve 7', { kind: 'approve', item: 'web-7' }],
  ];
  for (const [line, expected] of LINES)
    it(`reads "${line}"`, () => {
      const asked = readLine(line, at);
      assert.deepEqual(asked.kind === 'command' ? asked.command : asked, expected);
    });

  it('takes the item of the card that it replies to, unless it names another', () => {
    const reply = { ...at, card: 'web-7' };
    const kinds = (line: string) => {
      const asked = readLine(line, reply);
      return asked.kind === 'command' ? asked.command : asked;
    };
    assert.deepEqual(kinds('take'), { kind: 'take', item: 'web-7' });
    assert.deepEqual(kinds('take 8'), { kind: 'take', item: 'web-8' });
    assert.deepEqual(kinds('comment 8 of 9'), { kind: 'comment', item: 'web-7', text: '8 of 9' });
    assert.deepEqual(kinds('comment web-8 of 9'), { kind: 'comment', item: 'web-8', text: 'of 9' });
    assert.deepEqual(kinds('assign bob'), { kind: 'assign', item: 'web-7', member: 'bob' });
    assert.deepEqual(kinds('due none'), { kind: 'due', item: 'web-7', due: null });
    assert.deepEqual(kinds('unblock b2'), { kind: 'unblock', item: 'web-7', blocker: 'b2' });
    assert.deepEqual(kinds('ask ann Which?'), {
      kind: 'block',
      item: 'web-7',
      blocker: 'human_input',
      by: 'ann',
      reason: 'Which?',
    });
    assert.equal(kinds('take it').kind, 'fault');
  });

  for (const line of [
    'take',
    'take seven',
    'block 7 because',
    'block 7 external until soon',
    'assign 7',
    'due 7 soon',
    'paint 7',
    'comment 7',
  ])
    it(`answers "${line}" with how it is typed`, () => {
      assert.equal(readLine(line, at).kind, 'fault');
    });

  it('needs a board where the conversation has none', () => {
    assert.deepEqual(readLine('new Something', { board: undefined, now: NOW }), {
      kind: 'fault',
      text: 'This conversation belongs to no board: name one, as in "new web: <title>".',
    });
    assert.equal(readLine('take 7', { board: undefined, now: NOW }).kind, 'fault');
  });
});

const startBoard = (): Promise<TestBot> =>
  testBot(work, {
    workroom: {
      boards: { web: { members: { ann: 'owner', bob: 'worker', eve: 'reviewer' }, conversations: ['web'] } },
    },
  });

describe('work in a chat', () => {
  it('takes an item from new to done, with buttons, and tells the room', async () => {
    const bot = await startBoard();
    const [ann, bob, eve] = ['ann', 'bob', 'eve'].map((name) => bot.person(name, { in: 'web' }));
    await ann?.says('/work new Home page');
    await bob?.presses('Take');
    await bob?.presses('Submit');
    await eve?.presses('Accept');
    const shown = bot.shown('web');
    assert.deepEqual(shown, [
      '**web-1** Home page (open)',
      '**web-1** Home page (active, bob)',
      '**web-1** Home page (review, bob)',
      'To review: **web-1** Home page (review, bob)',
      '**web-1** Home page (done, bob)',
      'Done: **web-1** Home page (done, bob)',
    ]);
  });

  it('leaves the id out in a reply to a card, over a restart, and in a reply to what was told', async () => {
    const bot = await startBoard();
    const card = (nth: number): string | undefined => bot.messages('web').at(nth)?.id;
    const [ann, bob] = ['ann', 'bob'].map((name) => bot.person(name, { in: 'web' }));
    await ann?.says('/work new Home page');
    await ann?.says('/work new Imprint');
    await bot.restart();
    await bob?.says('/work take', { replyTo: card(0) });
    await bob?.says('/work comment 2 of 9 pages are done', { replyTo: card(0) });
    await bob?.says('/work block external waiting for DNS', { replyTo: card(2) });
    await ann?.says('/work unblock', { replyTo: card(-1) });
    await bob?.says('/work take 2', { replyTo: card(0) });
    const items = await bot.items();
    const shown = items.map(({ id, state, comments }) => [id, { state, comments: comments.map(({ text }) => text) }]);
    assert.deepEqual(Object.fromEntries(shown), {
      'web-1': { state: 'active', comments: ['2 of 9 pages are done'] },
      'web-2': { state: 'active', comments: [] },
    });
  });

  it('needs the id in a reply to another message', async () => {
    const bot = await startBoard();
    await bot.person('ann', { in: 'web' }).says('/work new Home page');
    await bot.person('ann', { in: 'web' }).says('/work list');
    await bot.person('bob', { in: 'web' }).says('/work take', { replyTo: bot.messages('web').at(-1)?.id });
    await bot.person('bob', { in: 'web' }).says('/work take', { replyTo: 'of-somebody' });
    assert.deepEqual(bot.shown('web').slice(-2), ['Usage: /work take \\<item\\>', 'Usage: /work take \\<item\\>']);
  });

  it('says why a press or a line is refused, and how a stranger joins', async () => {
    const bot = await startBoard();
    await bot.person('ann', { in: 'web' }).says('/work new Home page');
    await bot.person('bob', { in: 'web' }).says('/work take 1');
    await bot.person('bob', { in: 'web' }).says('/work accept 1');
    await bot.person('zoe', { in: 'web' }).says('/work take 1');
    const [, , refused, stranger] = bot.shown('web');
    assert.equal(refused, 'Web-1 is active: accept needs review.');
    assert.match(stranger ?? '', /^Guest has no role on board web\. This account belongs to no member/);
  });

  it('shows a board to its conversation and its members alone', async () => {
    const bot = await startBoard();
    await bot.person('ann', { in: 'web' }).says('/work new Home page');
    for (const line of ['/work', '/work show web-1']) {
      await bot.person('zoe').says(line);
      await bot.person('zoe', { in: 'elsewhere' }).says(line);
      await bot.person('ann').says(line);
      await bot.person('zoe', { in: 'web' }).says(line);
    }
    const hidden = ['Nothing here.', 'There is no item web-1 for you here.'];
    assert.deepEqual(bot.shown('dm-zoe'), hidden);
    assert.deepEqual(bot.shown('elsewhere'), hidden);
    const shown = ['web-1  Home page · open', '**web-1** Home page (open)'];
    assert.deepEqual(bot.shown('dm-ann'), shown);
    assert.deepEqual(bot.shown('web').slice(1), shown);
  });

  it('announces a deadline that passes, once, and again after a day', async () => {
    const bot = await startBoard();
    await bot.person('ann', { in: 'web' }).says('/work new Home page');
    await bot.person('ann', { in: 'web' }).says('/work block 1 external until 2h waiting for DNS');
    await bot.clock.advance('3h');
    const overdue = (): number => bot.shown('web').filter((text) => text.startsWith('Overdue:')).length;
    assert.equal(overdue(), 1);
    await bot.clock.advance('24h');
    assert.equal(overdue(), 2);
  });

  it('makes one item and one answer, killed at any point', async () => {
    await everyCrash(
      startBoard,
      async (bot) => {
        await bot.person('ann', { in: 'web' }).says('/work new Home page');
        await bot.person('bob', { in: 'web' }).says('/work take 1');
      },
      (bot, point) =>
        assert.deepEqual(bot.shown('web'), ['**web-1** Home page (open)', '**web-1** Home page (active, bob)'], point),
    );
  });
});
