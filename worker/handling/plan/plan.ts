// Plans the steps of a stored item: reads the routing data (open dialog, pressed button) and names the handlers.

import { wellFormed } from '../../../shared/log/well-formed.ts';
import type { Core } from '../../core/core.ts';
import type { InboxRow } from '../../inbox/inbox-store.ts';
import type { Payload } from '../../inbox/payload.ts';
import type { Delivery } from '../../inbox/prepare-item.ts';
import { laneName } from '../../lanes/lane-name.ts';
import type { Arrival, Conversation, User } from '../../sdk/index.ts';
import { plainText } from '../../sdk/message.ts';
import { trimUnseen } from '../../sdk/text/unseen-edges.ts';
import { readButton, readDialog, readMenuEntry } from '../handling-store.ts';
import type { Cause } from '../run/cause.ts';
import { fitting } from '../run/stored-data.ts';
import { type Capability, keptUnder } from './capabilities.ts';
import type { GenerationView } from './generation-view.ts';
import type { OpenDialogs } from './open-dialogs.ts';
import { mayBeHeard, route, type Step, type Stored } from './routing.ts';

export interface PlannedStep {
  /** Undefined if the handler of the stored work no longer exists. */
  readonly capability: Capability | undefined;
  readonly missing: string | undefined;
  readonly step: Step | { readonly kind: 'direct'; readonly input: () => unknown; readonly isGap?: true };
  readonly isBefore: boolean;
  /** True if the user is told of a failure, because the user typed a command or answered a question. */
  readonly claims: boolean;
  /** True if a step without a decision writes nothing. */
  readonly isQuiet: boolean;
  /** The user has an open question here that this step does not answer. A new question replaces it. */
  readonly hasOpenQuestion: boolean;
}

export interface PlanDeps {
  readonly core: Core;
  readonly dialogs: OpenDialogs;
  readonly generation: GenerationView;
  /** A button was pressed that belongs to another conversation or no longer exists. Nothing runs for it. */
  readonly refusedPress: (endpoint: string) => void;
}

export async function planItem(deps: PlanDeps, row: InboxRow, payload: Payload): Promise<readonly PlannedStep[]> {
  const { generation } = deps;
  if (payload.kind !== 'arrival') return [directStep(generation, row, payload)];
  const stored = await readStored(deps, row, payload.arrival);
  if (payload.arrival.kind === 'pressed' && stored.pressed === undefined) deps.refusedPress(row.endpoint);
  const steps = route(payload.arrival, stored, {
    endpoint: row.endpoint,
    capabilities: generation.capabilities,
    prefix: generation.commands.prefix,
  });
  return steps.map((step) => planned(step, stored.dialog !== undefined && step.kind !== 'answer'));
}

/**
 * True if the arrival certainly has no handler: the user has no open dialog, no button was pressed, nothing listens. Runs before the item is stored
 * and counted, so no read is made and no plugin code runs, patterns included.
 */
export function isForNobody(
  { dialogs, generation }: { readonly dialogs: OpenDialogs; readonly generation: GenerationView },
  { endpoint, payload }: Pick<Delivery, 'endpoint' | 'payload'>,
): boolean {
  if (payload.kind !== 'arrival') return false;
  const { arrival } = payload;
  try {
    if (arrival.kind === 'pressed' || menuNumber(arrival) !== undefined) return false;
    if (dialogs.mayBeOpen(dialogOwner(endpoint, arrival))) return false;
    const { capabilities, commands } = generation;
    return !mayBeHeard(arrival, { endpoint, capabilities, prefix: commands.prefix });
  } catch {
    return false; // the handling reports the fault
  }
}

function planned(step: Step, hasOpenQuestion: boolean): PlannedStep {
  if (step.kind === 'gone')
    return {
      capability: undefined,
      missing: step.id,
      step,
      isBefore: false,
      claims: true,
      isQuiet: false,
      hasOpenQuestion,
    };
  const isListener = step.kind === 'listener' || step.kind === 'overlong';
  return {
    capability: step.capability,
    missing: undefined,
    step,
    isBefore: isListener && step.capability.spec.order === 'before',
    claims: step.kind === 'command' || step.kind === 'answer',
    isQuiet: isListener,
    hasOpenQuestion,
  };
}

function directStep(
  generation: GenerationView,
  row: InboxRow,
  payload: Exclude<Payload, { kind: 'arrival' }>,
): PlannedStep {
  const id = row.capability ?? '';
  const capability = generation.capabilities.find(id);
  const isRight = capability?.kind === (payload.kind === 'event' ? 'subscribe' : payload.kind);
  const known = isRight ? keptUnder(capability, id) : undefined;
  return {
    capability: known,
    missing: id,
    step: {
      kind: 'direct',
      input: () => directInput(known, payload),
      ...(payload.kind === 'event' && payload.missed !== undefined ? { isGap: true } : {}),
    },
    isBefore: false,
    claims: false,
    isQuiet: false,
    hasOpenQuestion: false,
  };
}

/** Stored data, checked against the schema of the current code. Data that does not fit is an error. */
function directInput(capability: Capability | undefined, payload: Exclude<Payload, { kind: 'arrival' }>): unknown {
  const id = capability?.id ?? 'a plugin';
  switch (payload.kind) {
    case 'task':
      return fitting(
        { type: 'object', properties: capability?.kind === 'task' ? capability.spec.data : {} },
        payload.data,
        { what: `the data of ${id}` },
      );
    case 'webhook':
      return {
        headers: payload.headers,
        body: fitting(capability?.kind === 'webhook' ? capability.spec.body : {}, parseJson(payload.text), {
          what: `the body for ${id}`,
          remedy: 'it came so from its sender: mend that, or widen the schema, reload, then svc inbox replay',
        }),
      };
    case 'event':
      if (payload.missed !== undefined) return payload.missed;
      return capability?.kind === 'subscribe' && capability.spec.schema !== undefined
        ? fitting(capability.spec.schema, payload.data, { what: `the event for ${id}` })
        : payload.data;
    case 'cron':
      return payload.due;
  }
}

/** Parses JSON without `__proto__` keys and half characters. */
const parseJson = (text: string): unknown =>
  wellFormed(JSON.parse(text, (key, value: unknown) => (key === '__proto__' ? undefined : value)));

async function readStored(
  { core, dialogs }: { readonly core: Core; readonly dialogs: OpenDialogs },
  row: InboxRow,
  arrival: Arrival,
): Promise<Stored> {
  const owner = dialogOwner(row.endpoint, arrival);
  const dialog = dialogs.mayBeOpen(owner) ? await readDialog(core.reader, owner, core.clock.now()) : undefined;
  return { dialog, pressed: await readPressed(core, row.endpoint, arrival) };
}

/** A number that may select an entry of a listed menu. */
const menuNumber = (arrival: Arrival): string | undefined =>
  arrival.kind === 'message' ? /^\d{1,3}$/.exec(trimUnseen(plainText(arrival.text)))?.[0] : undefined;

async function readPressed(core: Core, endpoint: string, arrival: Arrival): Promise<Stored['pressed']> {
  const conversation = arrival.conversation.id;
  const number = menuNumber(arrival);
  const button = arrival.kind === 'pressed' ? await readButton(core.reader, arrival.token) : undefined;
  // A token is valid only in the conversation of its button, so nobody can press it from elsewhere.
  const isHere = button?.endpoint === endpoint && button.conversation === conversation;
  const listed =
    number === undefined
      ? undefined
      : await readMenuEntry(core.reader, { endpoint, conversation, number: Number(number) });
  const found = isHere ? button : listed;
  return found && { action: found.action, data: JSON.parse(found.data) as unknown };
}

/** Key of an open dialog: one a person and conversation. */
export const dialogOwner = (endpoint: string, { conversation, user }: Arrival): string =>
  laneName(endpoint, conversation.id, conversation.thread ?? '', user.id);

export function causeOf(row: InboxRow, payload: Payload | undefined, attempt: number): Cause {
  const { id, received_at: receivedAt, endpoint } = row;
  if (payload?.kind === 'task' && payload.job !== undefined)
    return { id, receivedAt, attempt, job: payload.job, chat: undefined };
  if (payload?.kind !== 'arrival') return { id, receivedAt, attempt, chat: undefined };
  const { arrival } = payload;
  const { user: person, conversation: place } = arrival;
  // Fields are copied by name. Extra fields of the adapter stay out, and the endpoint is the one that received the arrival.
  const user: User = { endpoint, id: person.id, name: person.name, admin: person.admin };
  const conversation: Conversation = {
    endpoint,
    id: place.id,
    kind: place.kind,
    ...(place.name === undefined ? {} : { name: place.name }),
    ...(place.thread === undefined ? {} : { thread: place.thread }),
  };
  return {
    id,
    receivedAt,
    attempt,
    ...(payload.origin === 'job' ? { job: person.id.replace(/^job\//, '') } : {}),
    chat: {
      user,
      conversation,
      endpoint,
      ...('message' in arrival ? { message: arrival.message } : {}),
      ...('replyTo' in arrival && arrival.replyTo !== undefined ? { replyTo: arrival.replyTo } : {}),
    },
  };
}
