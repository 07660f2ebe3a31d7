// Buttons are kept for months, and the old ones are looked for every few minutes.
import type { Migration } from './list.ts';

export const oldButtons: Migration = {
  id: 7,
  name: '0007-old-buttons',
  breaking: false,
  statements: [`CREATE INDEX buttons_created ON buttons (created_at)`],
};
