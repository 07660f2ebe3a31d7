// Buttons are kept for months, and a search for old ones runs every few minutes.
import type { Migration } from './list.ts';

export const oldButtons: Migration = {
  id: 7,
  name: '0007-old-buttons',
  breaking: false,
  statements: [`CREATE INDEX buttons_created ON buttons (created_at)`],
};
