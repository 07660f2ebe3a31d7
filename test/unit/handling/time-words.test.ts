// Times in chat: durations and words, in the zone of the host, over changes of the clocks.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { durationsFor, timesFor } from '../../../worker/handling/plan/time-words.ts';
import { t } from '../../../worker/sdk/index.ts';
import { type FindTime, readArguments } from '../../../worker/sdk/text/chat-line.ts';

const BERLIN = 'Europe/Berlin';
/** Friday, 10:00 in Berlin. */
const NOW = Date.parse('2026-11-27T09:00:00Z');

async function finder({ now = NOW, timezone = BERLIN } = {}): Promise<FindTime> {
  const findTime = await timesFor([t.when()], { now, timezone });
  assert.ok(findTime);
  return findTime;
}

const shown = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString();

describe('a time in words', () => {
  it('is read in the zone, and is the next one', async () => {
    const findTime = await finder();
    const read = (text: string): string | undefined => shown(findTime(text, 'whole')?.time);

    assert.deepEqual(['10m', 'in 10m', 'in 5 minutes', '5 minutes', 'in an hour', 'in 2 days'].map(read), [
      '2026-11-27T09:10:00.000Z',
      '2026-11-27T09:10:00.000Z',
      '2026-11-27T09:05:00.000Z',
      '2026-11-27T09:05:00.000Z',
      '2026-11-27T10:00:00.000Z',
      '2026-11-29T09:00:00.000Z',
    ]);
    assert.deepEqual(
      ['tomorrow at 9', 'at 9', 'at 11', 'on monday at 8:30', '24 December 18:00', '2026-12-01 09:00', '17:30 UTC'].map(
        read,
      ),
      [
        '2026-11-28T08:00:00.000Z',
        '2026-11-28T08:00:00.000Z',
        '2026-11-27T10:00:00.000Z',
        '2026-11-30T07:30:00.000Z',
        '2026-12-24T17:00:00.000Z',
        '2026-12-01T08:00:00.000Z',
        '2026-11-27T17:30:00.000Z',
      ],
    );
    assert.deepEqual(['list', 'soon', '', '17', 'tea', 'may', 'tomorrow at 9 tea'].map(read), Array(7).fill(undefined));
  });

  it('counts a delay in elapsed time, and a time of day by the clock on the wall', async () => {
    const night = Date.parse('2026-10-25T00:30:00Z'); // 2:30 summer time; the clocks go back at 3:00
    const findTime = await finder({ now: night });

    assert.equal(shown(findTime('in 2 hours', 'whole')?.time), '2026-10-25T02:30:00.000Z');
    assert.equal(shown(findTime('at 9', 'whole')?.time), '2026-10-25T08:00:00.000Z');
    assert.equal(shown(findTime('tomorrow at 9', 'whole')?.time), '2026-10-26T08:00:00.000Z');
  });

  it('stands in front of the text or behind it, and takes no other word', async () => {
    const findTime = await finder();
    const read = (line: string) => {
      const checked = readArguments({ when: t.when(), text: t.rest() }, line, { findTime });
      return checked.ok ? checked.value : checked.faults;
    };
    const call = { when: Date.parse('2026-11-28T08:00:00Z'), text: 'call Ann' };

    for (const line of [
      'tomorrow at 9 call Ann',
      'tomorrow at 9, call Ann',
      'call Ann tomorrow at 9',
      '"tomorrow at 9" call Ann',
      '--when "tomorrow at 9" call Ann',
      'call Ann --when "tomorrow at 9"',
    ])
      assert.deepEqual(read(line), call, line);
    const soon = NOW + 300_000;
    assert.deepEqual(read('5m tea at 5'), { when: soon, text: 'tea at 5' });
    assert.deepEqual(read('5 minutes tea'), { when: soon, text: 'tea' });
    assert.deepEqual(read('march to work in 5m'), { when: soon, text: 'march to work' });
    assert.deepEqual(read('a day off, in 5m'), { when: soon, text: 'a day off,' });
    assert.deepEqual(read('drink tea in 5m'), { when: soon, text: 'drink tea' });
    const expected = 'when: expected a time like "in 5 minutes" or "tomorrow at 9"';
    assert.deepEqual(read('list'), [`${expected}, got "list"`]);
    assert.deepEqual(read('someday tea'), [`${expected}, got "someday tea"`]);
    const free = { when: t.optional(t.when()), text: t.rest() };
    const optional = readArguments(free, 'someday tea', { findTime });
    assert.deepEqual(optional.ok && optional.value, { text: 'someday tea' });
  });

  it('is looked for in few characters of a long text', async () => {
    const findTime = await finder();
    const long = 'in 1 2 3 4 5 '.repeat(100_000);

    assert.equal(findTime(`${long}tomorrow at 9`, 'last')?.start, long.length);
    assert.equal(findTime(`tomorrow at 9 ${long}`, 'first')?.end, 'tomorrow at 9'.length);
    assert.equal(findTime(`tomorrow at 9 ${long}`, 'whole'), undefined);
  });

  it('is not looked for where no argument asks for it', async () => {
    assert.equal(await timesFor([t.duration(), t.rest()], { now: NOW, timezone: BERLIN }), undefined);
    assert.equal(durationsFor({ now: NOW, timezone: BERLIN })('in 5 minutes', 'whole'), undefined);
  });
});
