// What the commands get of a command line: the very text that was typed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Command } from '../../../supervisor/cli/command.ts';
import { parseCommand } from '../../../supervisor/cli/program.ts';

const COMMAND: Command = {
  noun: 'things',
  verb: 'list',
  args: '[id]',
  summary: '',
  examples: [],
  options: [
    { flags: '-n, --lines <n>', description: '' },
    { flags: '--reason <text>', description: '' },
    { flags: '--yes', description: '' },
  ],
  run: async () => 0,
};

describe('the parser of a command', () => {
  it('leaves a text that looks like a number as it was typed', () => {
    for (const text of ['007', '1e3', '0x10', '12345678901234567890', ' ', 'true'])
      for (const words of [['--project', text], [`--project=${text}`]])
        assert.equal(parseCommand(COMMAND, words).options['project'], text);
    assert.deepEqual(parseCommand(COMMAND, ['--yes', '007']).args, ['007']);
    assert.deepEqual(parseCommand(COMMAND, ['--yes', 'true']).args, ['true']);
  });

  it('refuses an option whose value is empty, as from a variable that is not set', () => {
    for (const words of [['--project', ''], ['--project='], ['-n', '', '--yes']])
      assert.throws(
        () => parseCommand(COMMAND, words),
        (error) =>
          error instanceof SvcError &&
          error.code === 'usage' &&
          /^(--project <dir>|-n, --lines <n>) needs a value$/.test(error.message) &&
          error.hint === 'svc things list --help',
      );
  });

  it('takes the value of a short option written to it', () => {
    assert.equal(parseCommand(COMMAND, ['-n5', '--yes']).options['lines'], '5');
    assert.equal(parseCommand(COMMAND, ['-n', '5']).options['lines'], '5');
  });

  it('names a stray word as it was typed', () => {
    assert.throws(() => parseCommand(COMMAND, ['a', '007']), {
      code: 'usage',
      message: "unexpected '007' after 'svc things list'",
    });
  });

  it('takes words after -- for words, whatever they look like, and refuses what is too much there as well', () => {
    assert.deepEqual(parseCommand(COMMAND, ['--', '-n']).args, ['-n']);
    assert.deepEqual(parseCommand(COMMAND, ['--lines', '5', '--', '--json']).options['json'], undefined);
    assert.throws(() => parseCommand(COMMAND, ['a', '--', '--force']), {
      code: 'usage',
      message: "unexpected '--force' after 'svc things list'",
    });
  });
});
