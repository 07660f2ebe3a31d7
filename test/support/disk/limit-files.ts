// How many files a supervisor may have open: those that are stay open, no more can be opened.
import { execFileSync } from 'node:child_process';
import type { Supervised } from '../process/supervised.ts';

export const limitFiles = ({ child }: Supervised, count: number): void =>
  void execFileSync('prlimit', ['--pid', String(child.pid), `--nofile=${count}:`]);
