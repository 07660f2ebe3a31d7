// The options of the functions of svc/testing, checked for plain JavaScript. Otherwise a misspelt option would have no effect, and a promise would
// not be tested.

import { invalid } from '../sdk/definition-mark.ts';
import { CAN } from '../sdk/definition-shapes.ts';
import {
  ABOVE_0,
  everyValue,
  FLAG,
  type Form,
  FUNCTION,
  faultOfShape,
  form,
  isObject,
  nested,
  OBJECT,
  oneOf,
  type Shape,
  TEXT,
  TEXTS,
  textsBy,
} from '../sdk/schema/shape.ts';
import type { BenchOptions } from './adapter-suite/adapter-bench.ts';
import type { Fixtures } from './adapter-suite/fixtures.ts';
import type { HostOptions } from './host.ts';
import type { TestBotOptions } from './test-bot.ts';

type Forms<T> = Readonly<Record<keyof T, Form>>;

const BYTES = everyValue('bytes (a Uint8Array) by id', (value) => value instanceof Uint8Array);
const PLUGIN = (value: unknown): boolean => typeof value === 'string' || value instanceof URL || isObject(value);

const TEST_BOT_KEYS: Forms<TestBotOptions> = {
  config: OBJECT,
  can: nested(CAN),
  direct: FLAG,
  files: BYTES,
  parts: OBJECT,
  workroom: OBJECT,
  startAt: (value) =>
    typeof value === 'string' && Number.isFinite(Date.parse(value))
      ? undefined
      : `is ${JSON.stringify(value)}: expected a time like 2026-01-01T12:00:00Z`,
};
export const TEST_BOT: Shape = { needed: {}, other: TEST_BOT_KEYS };

const HOST_KEYS: Forms<HostOptions> = {
  config: OBJECT,
  plugins: everyValue('a file, a package, the name of one that is built in, or keys, by slot', PLUGIN),
  files: textsBy('path'),
  environment: textsBy('name'),
  mode: oneOf('development', 'production', 'test'),
  until: oneOf('ready', 'up'),
  timeoutMs: ABOVE_0,
  owner: form('the context of a test, with after()', hasAfter),
};
export const HOST: Shape = { needed: {}, other: HOST_KEYS };

const BENCH_KEYS: Forms<BenchOptions> = {
  files: BYTES,
  fileUrls: textsBy('id'),
  endpoint: TEXT,
  committed: form('what `bench.committed` was', (value) => isObject(value) && Array.isArray(value['arrivals'])),
  store: FUNCTION,
};
export const BENCH: Shape = { needed: {}, other: BENCH_KEYS };

const FIXTURE_KEYS: Forms<Omit<Fixtures, 'account' | 'secrets'>> = {
  other: FUNCTION,
  refused: FUNCTION,
  platform: FUNCTION,
  good: FUNCTION,
  own: FUNCTION,
  several: FUNCTION,
  order: TEXTS,
  history: TEXTS,
  cursor: TEXT,
  redelivers: FUNCTION,
  conversation: TEXT,
  elsewhere: TEXT,
  unsigned: form("a list of 'bytes' and 'time'", isUnsigned),
  changes: form('true', (value) => value === true),
  finds: form('true', (value) => value === true),
  taken: FUNCTION,
  cut: FUNCTION,
  slows: FUNCTION,
  refuses: FUNCTION,
  without: textsBy('what is missing'),
  timeoutMs: ABOVE_0,
};
export const FIXTURES: Shape = { needed: { account: FUNCTION, secrets: TEXTS }, other: FIXTURE_KEYS };

/** Throws an error with code `definition_invalid` that names the function and the option. */
export function refuseBadOptions(entry: string, options: unknown, shape: Shape): void {
  const fault = faultOfShape(options, shape);
  if (fault !== undefined) throw invalid(`${entry}: ${fault}`);
}

function hasAfter(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'after' in value && typeof value.after === 'function';
}

function isUnsigned(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => one === 'bytes' || one === 'time');
}
