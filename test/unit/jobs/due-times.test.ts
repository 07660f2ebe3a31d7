// Golden due times over both changes of daylight saving, as of croner 11 with fixed times also for lists and ranges.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dueTimes, isAt, readAt } from '../../../shared/jobs/due-times.ts';
import { jitterOf } from '../../../shared/jobs/jitter.ts';

interface Golden {
  readonly cron: string;
  readonly zone: string;
  readonly after: string;
  readonly dues: readonly string[];
}

const GOLDEN: readonly Golden[] = [
  {
    cron: '30 2 * * *',
    zone: 'America/New_York',
    after: '2026-03-08T05:00Z',
    dues: ['2026-03-08T07:00Z', '2026-03-09T06:30Z'],
  },
  { cron: '0 2 * * *', zone: 'America/New_York', after: '2026-03-08T05:00Z', dues: ['2026-03-08T07:00Z'] },
  {
    cron: '*/30 * * * *',
    zone: 'America/New_York',
    after: '2026-03-08T06:00Z',
    dues: ['2026-03-08T06:30Z', '2026-03-08T07:00Z', '2026-03-08T07:30Z'],
  },
  {
    cron: '30 1 * * *',
    zone: 'America/New_York',
    after: '2026-11-01T04:00Z',
    dues: ['2026-11-01T05:30Z', '2026-11-02T06:30Z'],
  },
  {
    cron: '*/30 * * * *',
    zone: 'America/New_York',
    after: '2026-11-01T04:30Z',
    dues: ['2026-11-01T05:00Z', '2026-11-01T05:30Z', '2026-11-01T06:00Z', '2026-11-01T06:30Z'],
  },
  { cron: '30 2 * * *', zone: 'Europe/Berlin', after: '2026-03-28T12:00Z', dues: ['2026-03-29T01:00Z'] },
  {
    cron: '30 2 * * *',
    zone: 'Europe/Berlin',
    after: '2026-10-24T12:00Z',
    dues: ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
  },
  { cron: '15 2 * * *', zone: 'Australia/Lord_Howe', after: '2026-10-03T10:00Z', dues: ['2026-10-03T15:30Z'] },
  {
    cron: '45 1 * * *',
    zone: 'Australia/Lord_Howe',
    after: '2026-04-04T10:00Z',
    dues: ['2026-04-04T14:45Z', '2026-04-05T15:15Z'],
  },
  { cron: '0 0 * * *', zone: 'America/Sao_Paulo', after: '2018-11-03T12:00Z', dues: ['2018-11-04T03:00Z'] },
  {
    cron: '0 0 * * *',
    zone: 'Pacific/Apia',
    after: '2011-12-29T00:00Z',
    dues: ['2011-12-29T10:00Z', '2011-12-30T10:00Z', '2011-12-31T10:00Z'],
  },
  { cron: '0 12 30 12 *', zone: 'Pacific/Apia', after: '2011-12-01T00:00Z', dues: ['2012-12-29T22:00Z'] },
  {
    cron: '0,30 2 * * *',
    zone: 'America/New_York',
    after: '2026-03-08T05:00Z',
    dues: ['2026-03-08T07:00Z', '2026-03-09T06:00Z'],
  },
  {
    cron: '0,30 1 * * *',
    zone: 'America/New_York',
    after: '2026-11-01T04:00Z',
    dues: ['2026-11-01T05:00Z', '2026-11-01T05:30Z', '2026-11-02T06:00Z'],
  },
  { cron: '30 1 * * *', zone: 'Europe/London', after: '2026-03-28T12:00Z', dues: ['2026-03-29T01:00Z'] },
  {
    cron: '30 1 * * *',
    zone: 'Europe/London',
    after: '2026-10-24T12:00Z',
    dues: ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
  },
  {
    cron: '*/15 1 * * *',
    zone: 'Europe/London',
    after: '2026-10-25T00:00Z',
    dues: [
      '2026-10-25T00:15Z',
      '2026-10-25T00:30Z',
      '2026-10-25T00:45Z',
      '2026-10-25T01:00Z',
      '2026-10-25T01:15Z',
      '2026-10-25T01:30Z',
      '2026-10-25T01:45Z',
    ],
  },
  { cron: '45 5 * * *', zone: 'Asia/Kathmandu', after: '2026-05-01T12:00Z', dues: ['2026-05-02T00:00Z'] },
];

const shown = (at: number | undefined): string =>
  at === undefined ? 'never' : new Date(at).toISOString().replace(':00.000Z', 'Z');

describe('due times', () => {
  for (const { cron, zone, after, dues } of GOLDEN)
    it(`of ${cron} in ${zone} after ${after}`, async () => {
      const times = await dueTimes({ kind: 'cron', pattern: cron, timezone: zone }, 'UTC');

      const found: string[] = [];
      for (let at = times.next(Date.parse(after)); found.length < dues.length; at = times.next(at ?? 0))
        found.push(shown(at));

      assert.deepEqual(found, dues);
    });

  it('tell which daylight saving has moved', async () => {
    const times = await dueTimes({ kind: 'cron', pattern: '30 2 * * *', timezone: 'Europe/Berlin' }, 'UTC');

    assert.equal(times.isAtItsTime(Date.parse('2026-03-29T01:00Z')), false);
    assert.equal(times.isAtItsTime(Date.parse('2026-03-30T00:30Z')), true);
  });

  it('of `at` are the end of a gap, and the first of two in an overlap', () => {
    const at = (text: string, zone: string): string => shown(readAt(text, zone).at);

    assert.equal(at('2026-03-29T02:30', 'Europe/Berlin'), '2026-03-29T01:00Z');
    assert.equal(at('2026-10-25T02:30', 'Europe/Berlin'), '2026-10-25T00:30Z');
    assert.equal(at('2026-10-04T02:15', 'Australia/Lord_Howe'), '2026-10-03T15:30Z');
    assert.equal(at('2026-04-05T01:45', 'Australia/Lord_Howe'), '2026-04-04T14:45Z');
    assert.equal(at('2011-12-30T12:00', 'Pacific/Apia'), '2011-12-30T10:00Z');
    assert.equal(at('2026-05-02T05:45', 'Asia/Kathmandu'), '2026-05-02T00:00Z');
    assert.equal(at('2027-02-01T09:00', 'UTC'), '2027-02-01T09:00Z');
    assert.equal(at('2027-02-01T09:00+02:00', 'Europe/Berlin'), '2027-02-01T07:00Z');
    assert.equal(at('2027-02-01T09:00:00Z', 'Europe/Berlin'), '2027-02-01T09:00Z');
  });

  it('of `at` are of days and times that exist', () => {
    assert.deepEqual(
      [
        '2027-02-29T09:00',
        '2027-13-01T09:00',
        '2027-01-01T24:00',
        '2027-01-01',
        '2027-01-01T09:00+25:00',
        'tomorrow',
      ].filter(isAt),
      [],
    );
    assert.ok(isAt('2028-02-29T09:00'));
  });

  it('of `every` count real time from `from`, which is one of them', async () => {
    const from = Date.parse('2026-12-01T00:00Z');
    const times = await dueTimes({ kind: 'every', everyMs: 900_000, fromMs: from }, 'UTC');

    assert.equal(times.next(0), from);
    assert.equal(times.next(from), from + 900_000);
    assert.equal(times.next(from + 1_000_000), from + 1_800_000);
  });

  it('keep their order under jitter, which is the same each time', async () => {
    const times = await dueTimes({ kind: 'cron', pattern: '* * * * *', timezone: 'UTC' }, 'UTC');
    const dues = Array.from({ length: 50 }, (_, index) => index * 60_000);
    const at = (): number[] => dues.map((due) => due + jitterOf({ id: 'a', jitterMs: 3_600_000 }, due, times));

    assert.deepEqual(at(), at());
    assert.deepEqual(
      at(),
      at().toSorted((a, b) => a - b),
    );
    assert.ok(at().every((moved, index) => moved - (dues[index] ?? 0) < 30_000));
    assert.ok(new Set(at().map((moved, index) => moved - (dues[index] ?? 0))).size > 25);
  });
});
