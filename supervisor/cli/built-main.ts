#!/usr/bin/env node
// Built entry of the command `svc`. It loads the command's bundle, cli-main.cjs, with compiled code cached by an earlier start.
import './start/first-process.ts';
import { fileURLToPath } from 'node:url';
import { loadProgram } from '../../shared/files/compiled-code.ts';

const { keep } = loadProgram(fileURLToPath(new URL('./cli-main.cjs', import.meta.url)));

/** Only a start waits long enough to write the cache. Other commands only read it. */
if (process.argv.includes('start')) {
  const KEEP_AFTER_MS = 3_000; // a start is over by then
  setTimeout(keep, KEEP_AFTER_MS).unref();
  process.once('exit', keep);
}
