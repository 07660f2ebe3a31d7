import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CronCapability } from '../../../worker/handling/plan/capabilities.ts';
import { refuseBadPatterns } from '../../../worker/runtime/generations/cron.ts';

const job = (at: string, timezone?: string): CronCapability =>
  ({ id: 'root/own#cron/daily', slot: 'own', kind: 'cron', spec: { at, ...(timezone && { timezone }) } }) as never;

describe('a time that cannot be read', () => {
  const refused = (name: string, of: CronCapability, expected: { readonly message: RegExp; readonly hint: RegExp }) => {
    it(`is told: ${name}`, () =>
      assert.rejects(refuseBadPatterns([of], 'UTC'), { code: 'definition_invalid', ...expected }));
  };
  const example = /'0 9 \* \* 1-5'/;

  refused('a minute', job('61 * * * *'), {
    message: /^root\/own#cron\/daily: at is "61 \* \* \* \*": its minute "61" has to be of 0-59, as \*, one, a range/,
    hint: example,
  });
  refused('a step', job('0 */0 * * *'), { message: /: its hour "\*\/0" has to be of 0-23/, hint: example });
  refused('a day of the week', job('0 9 * * MOM'), { message: /its day of the week "MOM" .*SUN-SAT/, hint: example });
  refused('a second', job('99 0 9 * * *'), { message: /its second "99" has to be of 0-59/, hint: example });
  refused('words', job('every day'), {
    message: /at is "every day": it has to have five parts, minute/,
    hint: example,
  });
  refused('nothing', job(''), { message: /at is "": it has to have five parts/, hint: example });
  refused('a line break', job('* * *\n'), { message: /at is "\* \* \*\\n": /, hint: example });
  refused('a zone', job('0 9 * * *', 'Europe/Berln'), {
    message: /^root\/own#cron\/daily: timezone is "Europe\/Berln": it has to be an IANA name of a time zone$/,
    hint: /^did you mean Europe\/Berlin\?$/,
  });
  refused('a city', job('0 9 * * *', 'Berlin'), { message: /timezone is "Berlin"/, hint: /Europe\/Berlin\?$/ });
  refused('a zone like none', job('0 9 * * *', 'Qqqq'), { message: /timezone is "Qqqq"/, hint: /like Europe\/Berlin/ });
});
