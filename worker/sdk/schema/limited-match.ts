// Patterns of plugins against texts of strangers: some texts keep a pattern busy for years. The engine of patterns has no limit of its own, so
// a match that may take long runs where its time can be ended (node:vm ends what runs, and the process goes on).
//
//   B1  A match ends within LIMIT_MS. One that did not has a tenth of that for an hour: who repeats the text does not keep the process busy.
//   B2  Only time in which the process ran counts: a machine that is busy, or slept, ends nobody's match.
//   B3  What its source and the length of the text show to be short runs plainly: starting a limit costs more than most matches.
import { createContext, Script } from 'node:vm';
import { type Growth, growthOf } from './pattern-growth.ts';

/** `null`: it does not match; `overlong`: nobody knows, it took longer than it may. */
export type Matched = RegExpExecArray | null | 'overlong';

export const LIMIT_MS = 100;
const AGAIN_LIMIT_MS = 10;
const AGAIN_FOR_MS = 3_600_000;
/** Far below a millisecond, or a few at most. */
const PLAIN_STEPS = 1_000_000;
/** For one that was not given its time. */
const TRIES = 3;

interface Known {
  /** Without the flag `g`: each match begins at the start. */
  readonly pattern: RegExp;
  readonly growth: Growth | undefined;
}

const known = new WeakMap<RegExp, Known>();
/** Until when patterns that took too long have less time, by source and flags: each generation brings new objects. */
const slow = new Map<string, number>();

/** What each pattern finds in the text, in order. */
export function matchAll(patterns: readonly RegExp[], text: string): readonly Matched[] {
  const found = patterns.map((): Matched => null);
  const limited: number[] = [];
  for (const [index, pattern] of patterns.entries()) {
    const { pattern: own, growth } = knownOf(pattern);
    if (isShort(growth, text.length)) found[index] = execute(own, text);
    else if (isSlow(own)) found[index] = matchLimited([own], text, AGAIN_LIMIT_MS)[0] ?? null;
    else limited.push(index);
  }
  const open = limited.map((index) => knownOf(patterns[index] as RegExp).pattern);
  for (const [index, match] of matchLimited(open, text, LIMIT_MS).entries()) found[limited[index] as number] = match;
  return found;
}

/** False also where nobody knows: what a text cannot be shown to be it is not. */
export function isMatch(pattern: RegExp, text: string): boolean {
  const [match] = matchAll([pattern], text);
  if (match === 'overlong') for (const tell of observers) tell(pattern);
  return typeof match === 'object' && match !== null;
}

const observers = new Set<(pattern: RegExp) => void>();

/** Called for each text that a schema refuses because its pattern took too long. Returns how to hear no more of it. */
export function onOverlong(tell: (pattern: RegExp) => void): () => void {
  observers.add(tell);
  return () => void observers.delete(tell);
}

/** One limit for all of them: starting it is what costs. Who is cut after others had the time before is tried again, as the first. */
function matchLimited(patterns: readonly RegExp[], text: string, limitMs: number): readonly Matched[] {
  const found: Matched[] = [];
  for (let tries = 1; found.length < patterns.length; ) {
    const begun = found.length;
    const before = process.cpuUsage();
    within(limitMs, () => {
      while (found.length < patterns.length) found.push(execute(patterns[found.length] as RegExp, text));
    });
    const { user, system } = process.cpuUsage(before);
    if (found.length > begun) tries = 1;
    else if (tries < TRIES && (user + system) / 1_000 < limitMs / 2)
      tries += 1; // B2
    else {
      slow.set(nameOf(patterns[begun] as RegExp), performance.now() + AGAIN_FOR_MS);
      found.push('overlong');
      tries = 1;
    }
  }
  return found;
}

function knownOf(pattern: RegExp): Known {
  let one = known.get(pattern);
  if (one === undefined) {
    const own = new RegExp(pattern.source, pattern.flags.replace('g', ''));
    one = { pattern: own, growth: growthOf(own) };
    known.set(pattern, one);
  }
  return one;
}

const isShort = (growth: Growth | undefined, length: number): boolean =>
  growth !== undefined && growth.weight * (length + 1) ** growth.power <= PLAIN_STEPS;

/** A pattern that runs out of its memory on a text throws: nobody knows. */
function execute(pattern: RegExp, text: string): Matched {
  pattern.lastIndex = 0; // of one with the flag `y`
  try {
    return pattern.exec(text);
  } catch {
    return 'overlong';
  }
}

const nameOf = ({ source, flags }: RegExp): string => `${flags}/${source}`;
const isSlow = (pattern: RegExp): boolean => (slow.get(nameOf(pattern)) ?? 0) > performance.now();

let limit: { readonly script: Script; readonly context: { run: () => void } } | undefined;

/** Runs it, and cuts it where its time is over. */
function within(limitMs: number, run: () => void): void {
  limit ??= { script: new Script('run()'), context: createContext({ run }) as { run: () => void } };
  limit.context.run = run;
  try {
    limit.script.runInContext(limit.context, { timeout: limitMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
  } finally {
    limit.context.run = () => {}; // a text is not kept
  }
}
