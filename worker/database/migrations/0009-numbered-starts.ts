// Orders starts by a number that no clock changes: each start takes one when it begins to write. Starts of older versions have none. They come before
// all others, in the order of their times.
import type { Migration } from './list.ts';

export const numberedStarts: Migration = {
  id: 9,
  name: '0009-numbered-starts',
  breaking: false,
  statements: [`ALTER TABLE starts ADD COLUMN number INTEGER`],
};
