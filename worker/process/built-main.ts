// Entry of the worker as it is built: the program itself is worker-main.cjs beside it, loaded with the code that an earlier start compiled.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadProgram } from '../../shared/files/compiled-code.ts';
import type * as Main from '../main.ts';

const here = fileURLToPath(import.meta.url);
const { exports: main, keep } = loadProgram<typeof Main>(fileURLToPath(new URL('./worker-main.cjs', import.meta.url)));
/** What is loaded in the first moments belongs to a start too. */
const KEEP_AFTER_MS = 1_000;
main.whenUp(() => setTimeout(keep, KEEP_AFTER_MS).unref());

export const { runForeground } = main;
if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === here) void main.runSupervised();
