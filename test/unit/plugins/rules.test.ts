import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { helpList, helpOne } from '../../../worker/plugins/help/rules.ts';
import { pongText } from '../../../worker/plugins/ping/rules.ts';
import type { CommandHelp } from '../../../worker/sdk/index.ts';

const command = (name: string, more: Partial<CommandHelp> = {}): CommandHelp => ({
  name,
  aliases: [],
  summary: `Does ${name}`,
  usage: `/${name}`,
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
