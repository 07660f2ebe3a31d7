// The context of a handler. It reads committed data and collects effects in its run. It refuses use inside `once` and after the handler has ended,
// because a later attempt would lose that effect.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Core } from '../../core/core.ts';
import type { Reader } from '../../database/unit.ts';
import { pluginEventType } from '../../events/event-types.ts';
import type { FileSource } from '../../files/file-source.ts';
import { readKeyOf } from '../../outbox/sent-message.ts';
import type {
  Body,
  Button,
  ChatCtx,
  Content,
  ConversationRef,
  Ctx,
  FileRef,
  Logger,
  MessageRef,
  ScheduledPage,
  UserRef,
} from '../../sdk/index.ts';
import { isPerson } from '../../sdk/message.ts';
import { check } from '../../sdk/schema/check.ts';
import { ANY, faultOfShape, type Shape } from '../../sdk/schema/shape.ts';
import type { Capability } from '../plan/capabilities.ts';
import type { GenerationView } from '../plan/generation-view.ts';
import { ANSWER_ACTION } from '../plan/routing.ts';
import { checkEmoji, checkedContent, checkFile, checkMessage, checkTarget } from './body-shapes.ts';
import { type Cause, type Chat, callKey, coded, effectKey } from './cause.ts';
import { type CellContext, cellContext } from './cells.ts';
import { type OnceOptions, runOnce } from './once.ts';
import type { Ask, Effect, Run } from './run.ts';
import type { RunEnd } from './run-end.ts';
import type { RunPart, RunSurface } from './run-part.ts';
import { listTasks } from './scheduled-tasks.ts';
import type { StateTurns } from './state-turns.ts';
import type { UnderWay } from './under-way.ts';

export interface ContextDeps {
  readonly core: Core;
  readonly generation: GenerationView;
  readonly files: FileSource;
  readonly turns: StateTurns;
  readonly underWay: UnderWay;
  /** Each line names the handler, its generation and the item. */
  readonly logger: (capability: Capability, of: { readonly generation: number; readonly item: string }) => Logger;
  /** Typing hints are sent at once and never retried. */
  readonly typing: (endpoint: string, conversation: ConversationRef) => void;
}

export interface ContextOf {
  readonly capability: Capability;
  readonly cause: Cause;
  readonly run: Run;
  readonly end: RunEnd;
  readonly groups: Readonly<Record<string, string>>;
}

/** Unknown keys are refused: a misspelt `at` would otherwise schedule the task for now. */
const WHEN: Shape = { needed: {}, other: { at: ANY, afterMs: ANY, key: ANY } };
const insideOnce = new AsyncLocalStorage<string>();

export function makeContext(deps: ContextDeps, of: ContextOf): Ctx & ChatCtx {
  const { core, generation } = deps;
  const { capability, cause, run } = of;
  const notOver = (): void => {
    if (run.closed) throw coded('ctx_closed', `${capability.id}: the context is closed: an await is missing`);
  };
  const open = (): void => {
    const step = insideOnce.getStore();
    if (step !== undefined)
      throw coded(
        'inside_once',
        `${capability.id}: the context is used inside once("${step}"): a later attempt would not see it`,
      );
    notOver();
  };
  const effect = (one: Effect): void => {
    open();
    run.effects.push(one);
  };
  const contentOf = (body: Body): Content => {
    const content = checkedContent(capability.id, body);
    for (const button of content.buttons ?? []) refuseBadButton(generation, capability, button);
    return content;
  };
  const nextKey = (): string => callKey(cause, capability, run.nextKey());
  const send = (to: ConversationRef, body: Body, isPrivate: boolean): MessageRef => {
    const key = nextKey();
    effect({ kind: 'send', key, to, content: contentOf(body), isPrivate });
    return { sent: key };
  };
  const refOf = (call: 'edit' | 'remove' | 'react', message: MessageRef): MessageRef => {
    checkMessage(capability.id, call, message);
    return fullRef(generation, message);
  };
  const cells: CellContext = cellContext({ core, generation, capability, cause, run, open, effect });
  const chat = cause.chat;
  const context = {
    item: { id: cause.id, receivedAt: cause.receivedAt, attempt: cause.attempt },
    log: deps.logger(capability, { generation: generation.number, item: cause.id }),
    get signal() {
      return of.end.signal;
    },
    ...partsOf(generation, { capability, cause, effect, open, nextKey }),
    groups: of.groups,
    now: () => core.clock.now(),
    language: generation.language(chat?.conversation),
    languageOf: (conversation: ConversationRef) => generation.language(conversation),
    timezone: generation.timezone,
    key: (step: string) => effectKey(cause, capability, `key:${step}`),
    once: (step: string, call: (o: { key: string; signal: AbortSignal }) => unknown, options: OnceOptions = {}) => {
      open();
      return runOnce({ core, capability, cause, run, end: of.end, inside: insideOnce }, { step, call, options });
    },
    ...cells,
    // Files and typing hints are not effects, so a `once` call may use them: a later attempt loses nothing.
    readFile: async (file: FileRef) => {
      notOver();
      return deps.files.read(file);
    },
    saveFile: async (name: string, mime: string, bytes: Uint8Array) => {
      notOver();
      checkFile(capability.id, { name, mime, bytes });
      return deps.files.save(name, mime, bytes);
    },
    send: (to: ConversationRef | UserRef, body: Body) => {
      checkTarget(capability.id, to);
      const place = placeOf(generation, to);
      return send(place.to, body, place.isPrivate);
    },
    edit: (message: MessageRef, body: Body) =>
      effect({ kind: 'edit', key: nextKey(), message: refOf('edit', message), content: contentOf(body) }),
    remove: (message: MessageRef) => effect({ kind: 'remove', key: nextKey(), message: refOf('remove', message) }),
    react: (message: MessageRef, emoji: string, on = true) => {
      checkEmoji(capability.id, emoji);
      effect({ kind: 'react', key: nextKey(), message: refOf('react', message), emoji, on });
    },
    emit: (event: { id: string; schema: unknown }, data: unknown) =>
      effect({
        kind: 'emit',
        type: pluginEventType(event.id),
        data: fitting(event.schema, data, `${capability.id}: event ${event.id}`),
      }),
    count: (counter: CountedBy, labels: Readonly<Record<string, string>> = {}) =>
      effect({ kind: 'count', counter: counter.id, labels: declared(counter, labels) }),
    schedule: (task: { id: string }, data: unknown, when: { at?: number; afterMs?: number; key?: string } = {}) => {
      const fault = faultOfShape(when, WHEN);
      if (fault !== undefined) throw coded('no_time', `${capability.id}: schedule: when: ${fault}`);
      const at = Math.ceil(when.at ?? core.clock.now() + (when.afterMs ?? 0));
      if (Number.isNaN(new Date(at).getTime()))
        throw coded('no_time', `${capability.id}: task ${task.id}: ${JSON.stringify(when)} is no time`);
      const id = taskId(generation, task.id, when.key === undefined ? nextKey() : `key:${when.key}`);
      const checked = fitting(dataOfTask(generation, task.id), data, `${capability.id}: task ${task.id}`);
      run.tasks.delete(id);
      effect({
        kind: 'schedule',
        id,
        capability: task.id,
        lane: laneOfTask(generation, task.id, checked) ?? id,
        data: JSON.stringify(checked),
        at,
        isWait: when.at === undefined,
      });
    },
    cancel: (task: { id: string }, key: string) => {
      const id = taskId(generation, task.id, `key:${key}`);
      effect({ kind: 'cancel', id, capability: task.id, row: run.tasks.get(id) });
      run.tasks.delete(id);
    },
    scheduled: async (task: { id: string }, page: ScheduledPage = {}) => {
      open();
      const begin = taskId(generation, task.id, 'key:');
      return listTasks({ reader: core.reader, run, begin, schema: dataOfTask(generation, task.id) }, page);
    },
    user: chat?.user,
    conversation: chat?.conversation,
    reply: (body: Body) => {
      if (chat === undefined) throw coded('no_conversation', `${capability.id}: there is nobody to reply to: use send`);
      return send(chat.conversation, body, chat.conversation.kind === 'private');
    },
    repliedTo: async () => {
      open();
      return chat === undefined ? undefined : repliedTo(core.reader, chat);
    },
    ask: (dialog: { id: string }, given: Readonly<Record<string, unknown>> = {}) => {
      open();
      run.asks.push(askOf(generation, capability, { dialog: dialog.id, given }));
    },
    typing: () => {
      notOver();
      if (chat !== undefined) deps.typing(chat.endpoint, chat.conversation);
    },
    stop: () => {
      open();
      run.stopped = true;
    },
  };
  return context as unknown as Ctx & ChatCtx; // the SDK's generic types are erased here; each method follows its declaration
}

async function repliedTo(
  reader: Reader,
  { endpoint, conversation: { id: conversation }, replyTo }: Chat,
): Promise<MessageRef | undefined> {
  if (replyTo === undefined) return undefined;
  const sent = await readKeyOf(reader, { endpoint, conversation, message: replyTo });
  return sent === undefined ? { endpoint, conversation, id: replyTo } : { sent };
}

/** Destination for a person: the private conversation if the platform has one, otherwise the conversation with that id. */
function placeOf(
  generation: GenerationView,
  to: ConversationRef | UserRef,
): { readonly to: ConversationRef; readonly isPrivate: boolean } {
  const endpoint = generation.endpoint(to.endpoint);
  const direct = isPerson(to) ? generation.direct(endpoint, to.id) : undefined;
  return direct === undefined
    ? { to: { ...to, endpoint }, isPrivate: false }
    : { to: { endpoint, id: direct }, isPrivate: true };
}

/** A plugin may name an account by its short name, as in the configuration. */
const fullRef = (generation: GenerationView, message: MessageRef): MessageRef =>
  'endpoint' in message ? { ...message, endpoint: generation.endpoint(message.endpoint) } : message;

interface CountedBy {
  readonly id: string;
  readonly labels?: Readonly<Record<string, readonly string[]>>;
}

/** Requires every declared label with one of its declared values, so the number of metric series is bounded. */
function declared({ id, labels: known = {} }: CountedBy, labels: Readonly<Record<string, string>>): typeof labels {
  const fits =
    Object.keys(labels).length === Object.keys(known).length &&
    Object.entries(known).every(([name, values]) => values.includes(labels[name] ?? ''));
  if (!fits) throw coded('label_unknown', `${id}: ${JSON.stringify(labels)} are not its labels`);
  return labels;
}

/** Uses the first name of the task. Under a later name, waiting tasks and their lane would not be found. */
const taskId = (generation: GenerationView, id: string, of: string): string =>
  `task/${generation.capabilities.find(id)?.keptAs ?? id}/${of}`;

function dataOfTask(generation: GenerationView, id: string): unknown {
  const task = generation.capabilities.find(id);
  return { type: 'object', properties: task?.kind === 'task' ? task.spec.data : {} };
}

/** Button data is stored now and read when the button is pressed, so it is checked here. */
function refuseBadButton(generation: GenerationView, { id }: Capability, { label, action, data }: Button): void {
  if (action === ANSWER_ACTION) return;
  const found = generation.capabilities.find(action);
  if (found?.kind !== 'action') throw coded('no_action', `${id}: button ${label}: there is no action ${action}`);
  fitting({ type: 'object', properties: found.spec.data }, data, `${id}: button ${label} of ${action}`);
}

/** Answers that are missing or undefined are asked for. Given answers are checked now; otherwise a fault would show only at the end. */
function askOf(generation: GenerationView, { id }: Capability, { dialog, given }: Ask): Ask {
  const found = generation.capabilities.find(dialog);
  if (found?.kind !== 'dialog') throw coded('no_dialog', `${id}: ${dialog} is not a dialog of this generation`);
  const { answers } = found.spec;
  const known = Object.keys(answers).filter((name) => Object.hasOwn(given, name) && given[name] !== undefined);
  const properties = Object.fromEntries(known.map((name) => [name, answers[name]]));
  const checked = fitting({ type: 'object', properties }, given, `${id}: what ${dialog} is given`);
  return { dialog: found.id, given: checked as Ask['given'] };
}

/** Checks stored data against its schema when it is decided, not when it is used later. */
function fitting(schema: unknown, value: unknown, what: string): unknown {
  const checked = check(schema, value, { open: true });
  if (!checked.ok) throw coded('schema_mismatch', `${what}: ${checked.faults.join('; ')}`);
  return checked.value;
}

/** The lane that a task names; undefined: each run has its own. */
function laneOfTask(generation: GenerationView, id: string, data: unknown): string | undefined {
  const task = generation.capabilities.find(id);
  const lane = task?.kind === 'task' ? task.spec.lane?.(data as never) : undefined;
  return lane === undefined ? undefined : taskId(generation, id, `lane:${lane}`);
}

/** A part that makes effects is a function of the run; others are the same for every run of the generation. */
function partsOf(generation: GenerationView, run: Omit<RunSurface, 'isOperator'>): Readonly<Record<string, unknown>> {
  const user = run.cause.chat?.user;
  const isOperator = run.cause.job !== undefined || (user !== undefined && generation.commands.isOperator(user));
  const surface = { ...run, isOperator };
  return Object.fromEntries(
    run.capability.uses.map((name) => {
      const part = generation.parts[name];
      return [name, typeof part === 'function' ? (part as RunPart)(surface) : part];
    }),
  );
}
