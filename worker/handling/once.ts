// `once`: a call to the outside whose result is stored before the handler goes on.
//
//   O1  A stored result is given back; the call is not made again.
//   O2  With `unsure: 'hold'` the call is marked before it is made: an attempt that died in it is never called a second time.
//   O3  A thrown error is not kept: a later attempt calls again under the same key.
import type { AsyncLocalStorage } from 'node:async_hooks';
import { type Core, commitOrThrow } from '../core.ts';
import type { Statement } from '../database/unit.ts';
import type { Capability } from './capabilities.ts';
import { type Cause, coded, effectKey } from './cause.ts';
import { forgetCalled, forgetResults, keepResult, markCalled, readOnce } from './handling-store.ts';
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

export async function runOnce(caller: Caller, { step, call, options }: Call): Promise<unknown> {
  const { core, capability, cause, run } = caller;
  if (typeof step !== 'string' || typeof call !== 'function')
    throw coded('no_step', `${capability.id}: once has to get the name of a step and a function`);
  if (run.steps.has(step)) throw coded('step_twice', `${capability.id}: step "${step}" is used twice in one run`);
  run.steps.add(step);
  const key = { item: cause.id, handler: capability.id, step };
  const known = await readOnce(core.reader, key);
  if (known?.state === 'done') return parseResult(known.value);
  if (known?.state === 'called' && options.unsure === 'hold') {
    throw Object.assign(new Error(`${step}: an earlier attempt died between call and result`), {
      code: 'handler_fatal',
      [Symbol.for('svc.error')]: true,
    });
  }
  if (options.unsure === 'hold')
    await commitOrThrow(core.writer, { name: 'once.called', statements: [markCalled(key, core.clock.now())] });
  const signal = options.timeoutMs === undefined ? caller.end.signal : caller.end.within(options.timeoutMs);
  let value: unknown;
  try {
    value = await caller.inside.run(step, async () =>
      call({ key: effectKey(cause, capability, `key:${step}`), signal }),
    );
  } catch (error) {
    if (options.unsure === 'hold')
      await commitOrThrow(core.writer, { name: 'once.failed', statements: [forgetCalled(key)] });
    throw error;
  }
  if (FAILPOINTS) await core.point(`called:${step}`);
  const stored = storable(value, `${capability.id}: step "${step}"`);
  await commitOrThrow(core.writer, { name: 'once.kept', statements: [keepResult(key, stored, core.clock.now())] });
  if (FAILPOINTS) await core.point(`kept:${step}`);
  return parseResult(stored);
}

function storable(value: unknown, where: string): string | null {
  const text = value === undefined ? null : JSON.stringify(value);
  if (text !== null && Buffer.byteLength(text) > LARGEST_RESULT_BYTES)
    throw coded('result_too_large', `${where}: a result may have ${LARGEST_RESULT_BYTES} bytes as JSON`);
  return text;
}

const parseResult = (text: string | null): unknown => (text === null ? undefined : JSON.parse(text));

/** Results are needed no longer once what the run decided is committed. */
export const forgetSteps = (of: { readonly item: string; readonly handler: string }): Statement => forgetResults(of);
