import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { helpList, helpOne } from '../../../worker/plugins/help/rules.ts';
import { pongText } from '../../../worker/plugins/ping/rules.ts';
import { cancelled, promised, reminderList } from '../../../worker/plugins/remind/rules.ts';
import type { CommandHelp } from '../../../worker/sdk/index.ts';
import { remindTexts } from '../../../worker/sdk/text/chat-texts.ts';

const command = (name: string, more: Partial<CommandHelp> = {}): CommandHelp => ({
  name,
  aliases: [],
  summary: `Does ${name}`,
  usage: `/${name}`,
  args: [],
  examples: [],
  slot: 'demo',
  who: 'anyone',
  ...more,
});

describe('help', () => {
  it('lists all commands by name, and says who may use them (HELP-2)', () => {
    assert.equal(
      helpList([command('stop', { who: 'operator' }), command('echo', { usage: '/echo <text…>' })]),
      '/echo <text…>  Does echo\n/stop  Does stop (operators)',
    );
    assert.equal(helpList([]), 'There are no commands here.');
  });

  it('tells two commands of one name apart (HELP-3)', () => {
    assert.equal(
      helpList([command('x', { slot: 'b' }), command('x', { slot: 'a' })]),
      '/x  Does x [a]\n/x  Does x [b]',
    );
  });

  it('explains one command, by name or alias, with or without prefix, in any case (HELP-1)', () => {
    const commands = [command('remind', { aliases: ['in'], usage: '/remind <in> <text…>' })];

    for (const wanted of ['remind', '/remind', 'IN', ' !in'])
      assert.equal(helpOne(commands, wanted), '/remind <in> <text…>\nDoes remind\nAlso: in\nFrom: demo');
  });

  it('shows what the arguments are, and examples', () => {
    const wait = command('wait', {
      usage: '!wait [--in <duration>]',
      args: [{ usage: '--in <duration>', description: 'How long' }],
      examples: ['!wait', '!wait --in 5m'],
    });

    assert.equal(
      helpOne([wait], 'wait'),
      '!wait [--in <duration>]\nDoes wait\n  --in <duration>: How long\nFor example: !wait | !wait --in 5m\nFrom: demo',
    );
  });

  it('names the nearest command when there is none', () => {
    assert.equal(helpOne([command('remind')], 'remember'), 'There is no command remember. Did you mean remind?');
    assert.equal(helpOne([command('remind')], 'remnid'), 'There is no command remnid. Did you mean remind?');
    assert.equal(helpOne([command('remind')], 'x'), 'There is no command x.');
  });
});

describe('ping', () => {
  it('says how long the line waited', () => {
    assert.deepEqual(
      [-3, 0.4, 12, 61_000].map((ms) => pongText(ms)),
      [
        'pong: the line waited 0 ms',
        'pong: the line waited 0 ms',
        'pong: the line waited 12 ms',
        'pong: the line waited 1m1s',
      ],
    );
  });
});

describe('remind', () => {
  const shownIn = { now: Date.UTC(2026, 11, 30, 9), timezone: 'Asia/Shanghai' };
  const soon = { n: 1, at: Date.UTC(2026, 11, 30, 11), text: 'tea' };
  const nextYear = { n: 2, at: Date.UTC(2027, 0, 2, 1), text: 'milk' };

  it('writes dates as each language does, with the year if it is another one', () => {
    const texts = (language: 'en' | 'zh'): readonly string[] => {
      const said = remindTexts(language);
      const many = Array.from({ length: 21 }, () => soon);
      return [
        promised(shownIn.now + 60_000, shownIn, said),
        promised(nextYear.at, shownIn, said),
        reminderList([soon, nextYear], shownIn, said),
        reminderList(many, shownIn, said).split('\n').at(-1) ?? '',
        cancelled(2, 'milk', said),
      ];
    };

    assert.deepEqual(texts('en'), [
      'I will remind you in 1m.',
      'I will remind you on Sat 2 Jan 2027, 09:00 (Asia/Shanghai), in 2d16h.',
      '1) Wed 30 Dec, 19:00 (Asia/Shanghai), in 2h: tea\n2) Sat 2 Jan 2027, 09:00 (Asia/Shanghai), in 2d16h: milk',
      'and 1 more',
      'Reminder 2 is cancelled: milk',
    ]);
    assert.deepEqual(texts('zh'), [
      '好的，1m 后提醒你。',
      '好的，我会在 2027年1月2日周六 09:00（Asia/Shanghai） 提醒你，还有 2d16h。',
      '1) 12月30日周三 19:00（Asia/Shanghai），还有 2h：tea\n2) 2027年1月2日周六 09:00（Asia/Shanghai），还有 2d16h：milk',
      '另有 1 条',
      '提醒 2 已取消：milk',
    ]);
  });
});
