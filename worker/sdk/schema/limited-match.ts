// Matches patterns of plugins against texts of strangers. Some texts would keep a pattern busy for years, and JavaScript's engine has no time
// limit. A match that may take long therefore runs in node:vm, which can end it while the process goes on.
//
//   LIMITED-MATCH-1  A match ends within LIMIT_MS. A pattern that exceeded it gets a tenth of that time for an hour. So a repeated text does not
//                    keep the process busy.
//   LIMITED-MATCH-2  Only CPU time of the process counts: a busy or suspended machine ends no match.
//   LIMITED-MATCH-3  A match runs without a limit if pattern and length of the text prove that it is short. Starting a limit costs more than most
//                    matches.
import { createContext, Script } from 'node:vm';
import { type Growth, growthOf } from './pattern-growth.ts';

/** `null`: no match. 'overlong': unknown, because the match exceeded its time. */
export type Matched = RegExpExecArray | null | 'overlong';

export const LIMIT_MS = 100;
const AGAIN_LIMIT_MS = 10;
const AGAIN_FOR_MS = 3_600_000;
/** Most steps of a match without a limit: far below a millisecond as a rule, a few milliseconds at worst. */
const PLAIN_STEPS = 1_000_000;
/** Most tries of a match that did not get its CPU time. */
const TRIES = 3;

interface Known {
  /** Without the flag `g`, so each match begins at the start. */
  readonly pattern: RegExp;
  readonly growth: Growth | undefined;
}

const known = new WeakMap<RegExp, Known>();
/** Until when a pattern that took too long has the shorter limit. The key is source and flags, because each generation brings new objects. */
const slow = new Map<string, number>();

/** The match of each pattern, in order. */
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

/** False also if the match took too long: an unproven match counts as none. */
export function isMatch(pattern: RegExp, text: string): boolean {
  const [match] = matchAll([pattern], text);
  if (match === 'overlong') for (const tell of observers) tell(pattern);
  return typeof match === 'object' && match !== null;
}

const observers = new Set<(pattern: RegExp) => void>();

/** Calls `tell` for each text that a schema refuses because its pattern took too long. Returns a function that ends it. */
export function onOverlong(tell: (pattern: RegExp) => void): () => void {
  observers.add(tell);
  return () => void observers.delete(tell);
}

/**
 * Runs all patterns under one limit, because starting a limit is the expensive part. A pattern that was cut after others had used the time runs
 * again first.
 */
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
      tries += 1; // too little CPU time: the machine was busy
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

/** A pattern that runs out of memory on a text throws: the result is unknown. */
function execute(pattern: RegExp, text: string): Matched {
  pattern.lastIndex = 0; // the flag `y` starts at lastIndex
  try {
    return pattern.exec(text);
  } catch {
    return 'overlong';
  }
}

const nameOf = ({ source, flags }: RegExp): string => `${flags}/${source}`;
const isSlow = (pattern: RegExp): boolean => (slow.get(nameOf(pattern)) ?? 0) > performance.now();

let limit: { readonly script: Script; readonly context: { run: () => void } } | undefined;

/** Runs `run`, and ends it after `limitMs`. */
function within(limitMs: number, run: () => void): void {
  limit ??= { script: new Script('run()'), context: createContext({ run }) as { run: () => void } };
  limit.context.run = run;
  try {
    limit.script.runInContext(limit.context, { timeout: limitMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
  } finally {
    limit.context.run = () => {}; // keeps no reference to the text
  }
}
