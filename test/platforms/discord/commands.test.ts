// Commands that Discord would refuse, and all others of the menu with them: they are told as far as it takes them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type CommandInfo, t as schema } from '../../../worker/sdk/index.ts';
import { discordBench } from '../../support/accounts/discord-bench.ts';

type Option = Readonly<Record<string, unknown>> & { readonly name: string; readonly choices?: readonly unknown[] };

const command = (name: string, args: Record<string, object> = {}): CommandInfo => ({
  name,
  summary: `Does ${name}`,
  args: schema.object(args as never),
});
const optionsOf = (told: Readonly<Record<string, unknown>> | undefined): readonly Option[] =>
  (told?.['options'] ?? []) as readonly Option[];

describe('the menu of discord', () => {
  it('is taken with a command whose choices are over 8,000 characters: the longest are left out', async (t) => {
    const { platform, announce } = await discordBench(t);
    const choices = (length: number) => Array.from({ length: 20 }, (_, n) => `${n}`.padEnd(length, 'x'));

    await announce([
      command('ping'),
      command('big', {
        one: schema.enum(choices(60)),
        two: schema.enum(choices(100)),
        three: schema.enum(choices(80)),
      }),
    ]);

    const [ping, big] = platform.world.commands;
    assert.equal(ping?.['name'], 'ping');
    assert.deepEqual(
      optionsOf(big).map(({ name, type, choices: told }) => [name, type, told?.length]),
      [
        ['one', 3, 20],
        ['two', 3, undefined],
        ['three', 3, 20],
      ],
    );
  });

  it('is taken with limits that no number of Discord has', async (t) => {
    const { platform, announce } = await discordBench(t);

    await announce([
      command('count', {
        id: schema.integer({ minimum: -(2 ** 63), maximum: 2 ** 63 }),
        half: schema.integer({ minimum: 0.5, maximum: 9.5 }),
        any: schema.number({ minimum: -1e300, maximum: 1e300 }),
        part: schema.number({ minimum: 0.5, maximum: 9.5 }),
      }),
    ]);

    const most = Number.MAX_SAFE_INTEGER;
    assert.deepEqual(
      optionsOf(platform.world.commands[0]).map((one) => [one.name, one['min_value'], one['max_value']]),
      [
        ['id', -most, most],
        ['half', 1, 9],
        ['any', -most, most],
        ['part', 0.5, 9.5],
      ],
    );
  });
});
