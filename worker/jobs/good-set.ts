// The jobs file that was taken in last, as it is stored. Apart from the rest of this room: a start asks whether there is one before it loads jobs.
import { readMeta } from '../database/project-state.ts';
import type { Reader } from '../database/unit.ts';

/** Key of its text. */
export const GOOD_SET = 'jobs';

export const hasGoodSet = async (reader: Reader): Promise<boolean> => (await readMeta(reader, GOOD_SET)) !== undefined;
