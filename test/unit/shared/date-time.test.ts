import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readDateTime } from '../../../shared/time/date-time.ts';

describe('readDateTime', () => {
  it('reads RFC 3339 with any offset', () => {
    const at = Date.UTC(2028, 1, 29, 22, 30);

    assert.equal(readDateTime('2028-02-29T22:30:00Z'), at);
    assert.equal(readDateTime('2028-03-01T00:30:00.000+02:00'), at);
  });

  it('takes no day that the calendar lacks, and nothing of another form', () => {
    const wrong = ['2027-02-29T00:00:00Z', '2027-02-30T00:00:00Z', '2027-04-31T00:00:00Z', '2027-13-01T00:00:00Z'];
    const other = ['1', '', '2027-01-01', 'January 1, 2027', '2027-01-01T00:00:00', '2027-01-01T00:00:00+99:99'];

    for (const text of [...wrong, ...other]) assert.equal(readDateTime(text), undefined, text);
  });
});
