// `once`: an external call whose result is stored before the handler goes on.
//
//   ONCE-1  A stored result is returned without another call.
//   ONCE-2  With `unsure: 'hold'` the call is marked on disk before it is made. A call that ended without a result is never repeated. A thrown error
//           counts as no result (a lost connection proves nothing), unless the author throws `retryLater`, `giveUp` or `userError`.
//   ONCE-3  Otherwise a thrown error is not stored. A later attempt calls again with the same key.
//   ONCE-4  A result that JSON cannot hold is refused. The first attempt sees the same value as a later one.
import type { AsyncLocalStorage } from 'node:async_hooks';
import { type Core, commitOrThrow, reasonOf } from '../../core/core.ts';
import type { Statement } from '../../database/unit.ts';
import { errorCode, giveUp } from '../../sdk/errors.ts';
import { ANY, faultOfShape, oneOf, type Shape } from '../../sdk/schema/shape.ts';
import { NotPlain, pathTo, plainData, typeName } from '../../sdk/text/plain-data.ts';
import { forgetCalled, forgetResults, keepResult, markCalled, readOnce } from '../handling-store.ts';
import type { Capability } from '../plan/capabilities.ts';
import { type Cause, coded, effectKey } from './cause.ts';
import type { Run } from './run.ts';
import type { RunEnd } from './run-end.ts';

export interface OnceOptions {
  readonly unsure?: 'again' | 'hold';
  readonly timeoutMs?: number;
}
interface Caller {
  readonly core: Core;
  readonly capability: Capability;
  readonly cause: Cause;
  readonly run: Run;
  readonly end: RunEnd;
  readonly inside: AsyncLocalStorage<string>;
}
interface Call {
  readonly step: string;
  readonly call: (o: { key: string; signal: AbortSignal }) => unknown;
  readonly options: OnceOptions;
}

const LARGEST_RESULT_BYTES = 65_536;
/** Unknown options are refused: a misspelt `unsure` would turn `hold` into `again`. */
const OPTIONS: Shape = { needed: {}, other: { unsure: oneOf('again', 'hold'), timeoutMs: ANY } };

export async function runOnce(caller: Caller, { step, call, options }: Call): Promise<unknown> {
  const { core, capability, cause, run } = caller;
  if (typeof step !== 'string' || typeof call !== 'function')
    throw coded('no_step', `${capability.id}: once has to get the name of a step and a function`);
  const fault = faultOfShape(options, OPTIONS);
  if (fault !== undefined) throw coded('no_step', `${capability.id}: step "${step}": ${fault}`);
  const { timeoutMs } = options;
  if (timeoutMs !== undefined && !(Number(timeoutMs) > 0))
    throw coded('no_time', `${capability.id}: step "${step}": timeoutMs is ${String(timeoutMs)}: it has to be above 0`);
  if (run.steps.has(step)) throw coded('step_twice', `${capability.id}: step "${step}" is used twice in one run`);
  run.steps.add(step);
  const key = { item: cause.id, handler: capability.keptAs, step };
  const known = await readOnce(core.reader, key);
  if (known?.state === 'done') return parseResult(known.value);
  if (known?.state === 'called' && options.unsure === 'hold')
    throw giveUp(`${step}: an earlier attempt died between call and result`);
  if (options.unsure === 'hold')
    await commitOrThrow(core.writer, { name: 'once.called', statements: [markCalled(key, core.clock.now())] });
  const limit = timeoutMs === undefined ? undefined : caller.end.within(timeoutMs, core.clock);
  const signal = limit?.signal ?? caller.end.signal;
  let value: unknown;
  try {
    value = await caller.inside.run(step, async () =>
      call({ key: effectKey(cause, capability, `key:${step}`), signal }),
    );
  } catch (error) {
    if (options.unsure !== 'hold') throw error;
    if (errorCode(error) === undefined)
      throw giveUp(`${step}: it failed, and whether the outside took it is not known: ${reasonOf(core, error)}`);
    await commitOrThrow(core.writer, { name: 'once.failed', statements: [forgetCalled(key)] });
    throw error;
  } finally {
    limit?.cancel();
  }
  if (FAILPOINTS) await core.point(`called:${step}`);
  const stored = storable(value, `${capability.id}: step "${step}"`);
  await commitOrThrow(core.writer, { name: 'once.kept', statements: [keepResult(key, stored, core.clock.now())] });
  if (FAILPOINTS) await core.point(`kept:${step}`);
  return parseResult(stored);
}

function storable(value: unknown, where: string): string | null {
  const text = value === undefined ? null : textOf(value, where);
  if (text !== null && Buffer.byteLength(text) > LARGEST_RESULT_BYTES)
    throw coded('result_too_large', `${where}: a result may have ${LARGEST_RESULT_BYTES} bytes as JSON`);
  return text;
}

function textOf(value: unknown, where: string): string {
  try {
    const text = JSON.stringify(value, (_key, one: unknown) => plainData(one)) as string | undefined;
    if (text !== undefined) return text;
  } catch (error) {
    if (!(error instanceof NotPlain)) throw error;
    const path = pathTo(error.value, value) ?? '';
    const what = `a ${typeName(error.value)}${path === '' ? '' : ` at ${path}`}`;
    throw coded('result_not_plain', `${where}: gives ${what}, which JSON cannot hold: return what is needed of it`);
  }
  throw coded('result_not_plain', `${where}: gives a ${typeof value}, which JSON cannot hold`);
}

const parseResult = (text: string | null): unknown => (text === null ? undefined : JSON.parse(text));

/** Deletes the stored results. They are not needed once the run's decision is committed. */
export const forgetSteps = (of: { readonly item: string; readonly handler: string }): Statement => forgetResults(of);
