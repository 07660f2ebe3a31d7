#!/usr/bin/env node
// Entry of the command `svc` as it is built: the command itself is cli-main.cjs beside it, loaded with the code that an earlier start compiled.
import './start/first-process.ts';
import { fileURLToPath } from 'node:url';
import { loadProgram } from '../../shared/files/compiled-code.ts';

const { keep } = loadProgram(fileURLToPath(new URL('./cli-main.cjs', import.meta.url)));

/** Kept by a start alone, which waits for it: any command takes what is there. */
if (process.argv.includes('start')) {
  const KEEP_AFTER_MS = 3_000; // a start is over by then
  setTimeout(keep, KEEP_AFTER_MS).unref();
  process.once('exit', keep);
}
