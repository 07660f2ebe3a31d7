// The environment of a process whose wall clock is stepped while it runs, as by an operator or a time server: the file says by how many milliseconds.
// Monotonic clocks go on as they are, which is what a step of the real one leaves alone, too.

export const shiftedBy = (file: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload(file))}`,
});

const preload = (file: string): string => `import { readFileSync } from 'node:fs';
const Real = Date;
const now = () => {
  let ms = 0;
  try { ms = Number(readFileSync(${JSON.stringify(file)}, 'utf8')); } catch {}
  return Real.now() + ms;
};
globalThis.Date = class Date extends Real {
  constructor(...args) { if (args.length === 0) super(now()); else super(...args); }
  static now() { return now(); }
};`;
