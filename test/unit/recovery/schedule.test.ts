import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nextCheckpoint } from '../../../worker/recovery/schedule.ts';

const at = (text: string): number => Date.parse(text);
const daily = { everyHours: 24, at: '03:30', zone: 'Europe/Berlin' };
const next = async (rules: typeof daily, last: string): Promise<string | undefined> => {
  const time = await nextCheckpoint(rules, at(last));
  return time === undefined ? undefined : new Date(time).toISOString();
};

describe('the next checkpoint', () => {
  it('is at the time of day in the zone, over daylight saving as well', async () => {
    assert.equal(await next(daily, '2026-01-10T02:30:05Z'), '2026-01-11T02:30:00.000Z');
    assert.equal(await next(daily, '2026-03-28T02:30:05Z'), '2026-03-29T01:30:00.000Z');
  });

  it('is the next time of day after one that was made by hand', async () => {
    assert.equal(await next(daily, '2026-01-10T13:00:00Z'), '2026-01-11T02:30:00.000Z');
  });

  it('is in the past where it was missed', async () => {
    assert.equal(await next(daily, '2026-01-02T02:30:00Z'), '2026-01-03T02:30:00.000Z');
  });

  it('counts days where there are more between two, and hours where there are less', async () => {
    assert.equal(await next({ ...daily, everyHours: 168 }, '2026-01-10T02:30:05Z'), '2026-01-17T02:30:00.000Z');
    assert.equal(await next({ ...daily, everyHours: 6 }, '2026-01-10T02:30:05Z'), '2026-01-10T08:30:05.000Z');
  });

  it('is never with 0', async () => {
    assert.equal(await next({ ...daily, everyHours: 0 }, '2026-01-10T02:30:05Z'), undefined);
  });
});
