// What a handler of plain JavaScript throws may fail whoever reads it: it is a failure like any other, told, kept and at its end.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definePlugin } from 'svc';
import { testBot } from 'svc/testing';

const fail = (): never => {
  throw new Error('read');
};
const unreadable = (of: object, key: string): object => Object.defineProperty(of, key, { enumerable: true, get: fail });

const THROWN: Readonly<Record<string, unknown>> = {
  'an object without prototype': Object.create(null),
  'an error without a readable message': unreadable(new Error('a'), 'message'),
  'an error without a readable stack': unreadable(new Error('a'), 'stack'),
  'an error whose message is an object': Object.assign(new Error('a'), { message: { text: 'a' } }),
  'an error whose message is undefined': Object.assign(new Error('a'), { message: undefined }),
  'an object that has no text': { toString: fail },
  'a proxy that refuses everything': new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail }),
  'an error with a body that cannot be read': unreadable(new Error('a'), 'body'),
  'a symbol': Symbol('a'),
  'a frozen error': Object.freeze(new Error('a')),
  nothing: undefined,
};

describe('what is thrown', () => {
  for (const [name, thrown] of Object.entries(THROWN))
    it(`${name} is a dead letter at once where there is one attempt, and the next message is handled`, async () => {
      const plugin = definePlugin({
        name: 'x',
        setup(p) {
          p.command('go', { summary: 'Goes', attempts: 1 }, () => {
            throw thrown;
          });
          p.command('next', { summary: 'Comes after it' }, () => 'here');
        },
      });
      const bot = await testBot(plugin);
      await bot.person('ann').says('/go');
      await bot.person('ann').says('/next');

      const [sorry, ...rest] = bot.shown('dm-ann');
      assert.match(sorry ?? '', /^Sorry, that failed/);
      assert.deepEqual(rest, ['here']);
      assert.equal(bot.dead().length, 1);
      await bot.stop();
    });
});
