// New code that is exchanged while it lies in the page cache alone.
import { syncCode as Real } from '../../../../../supervisor/cli/release/sync-code.ts';
import { planted } from './planted.ts';

export const syncCode: typeof Real = async (...args) => {
  if (!planted('code-without-sync')) await Real(...args);
};
