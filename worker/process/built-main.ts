// Entry of the built worker. The program is worker-main.cjs in the same folder, loaded with the compile cache of an earlier start.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadProgram } from '../../shared/files/compiled-code.ts';
import type * as Main from '../main.ts';

const here = fileURLToPath(import.meta.url);
const { exports: main, keep } = loadProgram<typeof Main>(fileURLToPath(new URL('./worker-main.cjs', import.meta.url)));
/** Code loaded in the first moments after the start goes into the cache too. */
const KEEP_AFTER_MS = 1_000;
main.whenUp(() => setTimeout(keep, KEEP_AFTER_MS).unref());

export const { runForeground } = main;
if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === here) void main.runSupervised();
