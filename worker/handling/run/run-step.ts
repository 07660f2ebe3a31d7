// One run of one handler: prepares input and context, runs the handler under its time limit, and returns its decision.
import { readableError } from '../../../shared/svc-error.ts';
import { userError } from '../../sdk/errors.ts';
import type { Body, ChatCtx, Ctx } from '../../sdk/index.ts';
import { check } from '../../sdk/schema/check.ts';
import { fromWord } from '../../sdk/text/chat-line.ts';
import { hostTexts } from '../../sdk/text/chat-texts.ts';
import { commandIn, isCancel } from '../../sdk/text/command-sign.ts';
import { trimUnseen } from '../../sdk/text/unseen-edges.ts';
import type { Capability, DialogCapability } from '../plan/capabilities.ts';
import { argumentsOf, type TypedCommand } from '../plan/command-line.ts';
import { nextQuestion, openDialog, questionOf, stepsOf } from '../plan/dialogs.ts';
import type { PlannedStep } from '../plan/plan.ts';
import { type TimeFrame, timesFor } from '../plan/time-words.ts';
import { isSaid } from './body-shapes.ts';
import { type Cause, coded } from './cause.ts';
import { findExpected } from './cells.ts';
import { type ContextDeps, makeContext } from './context.ts';
import { Run } from './run.ts';
import { RunEnd } from './run-end.ts';
import { fitting } from './stored-data.ts';

export type StepResult =
  | { readonly kind: 'decided'; readonly run: Run; readonly result: unknown }
  | { readonly kind: 'failed'; readonly error: unknown };

export interface StepOf {
  readonly deps: ContextDeps;
  readonly step: PlannedStep;
  readonly cause: Cause;
  /** The previous run, whose state had changed before its commit. */
  readonly moved?: Run | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;

export async function runStep({ deps, step, cause, moved }: StepOf): Promise<StepResult> {
  const { capability } = step;
  if (capability === undefined) return { kind: 'failed', error: new Error('no handler') };
  return runHandler(
    { deps, capability, cause, moved, groups: step.step.kind === 'listener' ? step.step.groups : {} },
    (ctx, run) => invoke({ deps, step, cause, ctx, run }),
  );
}

export interface HandlerOf {
  readonly deps: ContextDeps;
  readonly capability: Capability;
  readonly cause: Cause;
  readonly groups?: Readonly<Record<string, string>>;
  readonly moved?: Run | undefined;
}

/** Runs `body` with a context under the handler's time limit. Used for items and for plugin routes, which have no item. */
export async function runHandler(
  { deps, capability, cause, groups = {}, moved }: HandlerOf,
  body: (ctx: Ctx & ChatCtx, run: Run) => Promise<unknown>,
): Promise<StepResult> {
  const run = moved === undefined ? new Run() : new Run(await findExpected(deps.core.reader, moved));
  const limitMs = capability.spec.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const end = new RunEnd(deps.generation.signal, (error) =>
    deps.core.log.error({ capability: capability.id, item: cause.id, err: error }, 'a listener of ctx.signal failed'),
  );
  const timer = deps.core.clock.after(
    limitMs,
    () => end.abort(coded('timeout', `${capability.id}: its ${limitMs} ms are over`)),
    { background: true },
  );
  const ctx = makeContext(deps, { capability, cause, run, end, groups });
  const over = deps.underWay.begin({ handler: capability.id, item: cause.id, since: deps.core.clock.now() });
  try {
    const result = await Promise.race([body(ctx, run), end.aborted]);
    run.closed = true;
    return { kind: 'decided', run, result };
  } catch (error) {
    run.closed = true;
    return { kind: 'failed', error: readableError(error) };
  } finally {
    over();
    timer.cancel();
    end.close();
  }
}

interface Invocation extends StepOf {
  readonly ctx: Ctx & ChatCtx;
  readonly run: Run;
}

/** Bounds the dialogs of one run, because dialogs may ask each other without end. */
const MOST_ASKS = 100;

async function invoke(of: Invocation): Promise<void> {
  const { ctx, run, cause, step } = of;
  const say = (result: unknown): void => {
    if (result !== undefined && cause.chat !== undefined && !isSaid(result)) ctx.reply(result as Body);
  };
  const result = await callOf(of);
  // A dialog with nothing left to ask ends at once, and its handler may begin the next one.
  for (let asked = 0, next = run.asks.shift(); next !== undefined; next = run.asks.shift()) {
    asked += 1;
    if (asked > MOST_ASKS) throw new Error(`${next.dialog} is asked without an end`);
    const dialog = of.deps.generation.capabilities.find(next.dialog);
    if (dialog?.kind !== 'dialog') throw new Error(`${next.dialog} is not a dialog of this generation`);
    if (step.hasOpenQuestion && nextQuestion(dialog, next.given, []) !== undefined)
      ctx.reply(hostTexts(ctx.language).questionDropped); // a user has one at a time in a conversation
    say(await advance(of, dialog, { known: next.given, skipped: [] }));
  }
  say(result);
}

async function callOf(of: Invocation): Promise<unknown> {
  const { step, ctx } = of;
  const planned = step.step;
  const call = (input: unknown): unknown => step.capability?.run(ctx, input as never);
  switch (planned.kind) {
    case 'listener':
      return call(planned.event);
    case 'command':
      return call(await commandInput(of, planned.capability, planned.typed));
    case 'action': {
      const { id, spec } = planned.capability;
      return call(
        fitting({ type: 'object', properties: spec.data }, planned.data, { what: `the data of a button for ${id}` }),
      );
    }
    case 'answer':
      return answerDialog(of, planned.capability, planned);
    case 'direct':
      return planned.isGap === true && step.capability?.kind === 'subscribe'
        ? step.capability.spec.missed?.(ctx, planned.input() as never)
        : call(planned.input());
    case 'gone':
    case 'overlong':
      return undefined;
  }
}

async function commandInput(
  { deps, cause, ctx }: Invocation,
  capability: Extract<Capability, { kind: 'command' }>,
  typed: TypedCommand,
): Promise<unknown> {
  const { commands } = deps.generation;
  const texts = hostTexts(ctx.language);
  const user = cause.chat?.user;
  if (capability.spec.who === 'admin' && user?.admin !== true) throw userError(texts.adminsOnly);
  if (
    capability.spec.who === 'operator' &&
    cause.job === undefined &&
    (user === undefined || !commands.isOperator(user))
  )
    throw userError(texts.operatorsOnly);
  const findTime = await timesFor(Object.values(capability.spec.args ?? {}), timeFrame(deps, cause));
  const read = argumentsOf(capability, typed, { prefix: commands.prefix, findTime, language: ctx.language });
  if (!read.ok) throw userError(read.text);
  return read.value;
}

/** Counts from the arrival of the item, so that each attempt reads the same time. */
const timeFrame = ({ generation }: ContextDeps, { receivedAt }: Cause): TimeFrame => ({
  now: receivedAt,
  timezone: generation.timezone,
});

async function answerDialog(
  of: Invocation,
  dialog: DialogCapability,
  { row, text, people }: Extract<PlannedStep['step'], { kind: 'answer' }>,
): Promise<unknown> {
  const { ctx, run, deps, cause } = of;
  const answer = trimUnseen(text);
  const typed = commandIn(answer, deps.generation.commands.prefix) ?? { name: answer, rest: '' };
  if (isCancel(typed.name) && typed.rest === '') {
    run.dialog = null;
    return hostTexts(ctx.language).cancelled;
  }
  const name = nextQuestion(dialog, row.data, row.skipped) ?? row.asked;
  const schema = dialog.spec.answers[name] ?? {};
  const findTime = await timesFor([schema], timeFrame(deps, cause));
  const read = check(schema, fromWord(schema, answer, { people, findTime }), { language: ctx.language });
  const fault = read.ok
    ? await stepsOf(dialog)[name]?.check?.(read.value, ctx)
    : read.faults.map((line) => line.replace(/^value: /, '')).join('; ');
  if (fault === undefined && read.ok)
    return advance(of, dialog, { known: { ...row.data, [name]: read.value }, skipped: row.skipped });
  ctx.reply(String(fault));
  ctx.reply(await questionOf(dialog, { name, known: row.data }, ctx));
  return undefined;
}

/** Asks the next question, or runs the dialog's handler if all answers are known. */
async function advance(
  { ctx, run, deps }: Invocation,
  dialog: DialogCapability,
  { known, skipped }: { readonly known: Readonly<Record<string, unknown>>; readonly skipped: readonly string[] },
): Promise<unknown> {
  const next = nextQuestion(dialog, known, skipped);
  if (next !== undefined) {
    ctx.reply(await questionOf(dialog, { name: next, known }, ctx));
    run.dialog = openDialog(dialog, { known, skipped, asked: next }, deps.core.clock.now());
    return undefined;
  }
  run.dialog = null;
  const { id, spec } = dialog;
  const answers = fitting({ type: 'object', properties: spec.answers }, known, { what: `the answers to ${id}` });
  return dialog.run(ctx, answers as never);
}
