// The chat page's API of the sandbox. Messages that people write go into the inbox like any delivery.
// Displayed messages are read from inbox and outbox, in the order of their events in the event history.
// Messages older than that history come first, ordered by time. Texts are kept for `inbox.bodyDays` and `outbox.days`.
// At most MOST_ROWS rows are read from each table, and an answer holds a page of them.
import { SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { turns } from '../core/turns.ts';
import { sql } from '../database/statement.ts';
import type { InboxKind } from '../database/tables.ts';
import type { EndpointRunner } from '../endpoints/endpoint-runner.ts';
import type { Keep } from '../http/answer/kept-answer.ts';
import type { ChatApi, ChatMessage, ChatTaken } from '../http/api/chat-api.ts';
import type { Inbox } from '../inbox/inbox.ts';
import { readPayload } from '../inbox/payload.ts';
import type { IngressGate } from '../ingress/ingress-gate.ts';
import { receiveArrivals } from '../ingress/receive-arrivals.ts';
import { laneName } from '../lanes/lane-name.ts';
import type { OutboxRow } from '../outbox/outbox-store.ts';
import { resolveCall } from '../outbox/resolve-call.ts';
import type { Arrival, Outgoing } from '../sdk/index.ts';
import { pageOf } from './chat-page.ts';

/** Pure functions of the sandbox adapter, passed in by the composition root. */
export interface SandboxView {
  arrival(said: {
    readonly person: string;
    readonly room: string | undefined;
    readonly text: string;
    readonly delivery: string;
    readonly sentAt: number;
  }): Arrival;
  press(pressed: {
    readonly person: string;
    readonly room: string | undefined;
    readonly message: string;
    readonly token: string;
    readonly delivery: string;
    readonly sentAt: number;
  }): Arrival;
  conversation(place: { readonly person: string; readonly room: string | undefined }): string;
  view(
    inbound: readonly { n: number; at: number; arrival: Arrival }[],
    outbound: readonly { n: number; at: number; call: Outgoing }[],
    place: { readonly person: string; readonly room: string | undefined },
  ): readonly ChatMessage[];
}
export interface SandboxChatDeps {
  readonly core: Core;
  readonly inbox: Inbox;
  readonly gate: IngressGate;
  readonly admit: () => void;
  readonly endpoint: () => EndpointRunner | undefined;
  readonly sandbox: SandboxView;
}

const MOST_ROWS = 500;
/** Number of events scanned in one turn of the event loop. */
const EVENTS_AT_ONCE = 8_000;
/** A row and its event may have slightly different timestamps. */
const CLOCK_SLACK_MS = 5_000;

export function createSandboxChat({ core, inbox, gate, admit, endpoint, sandbox }: SandboxChatDeps): ChatApi {
  const running = (): EndpointRunner => {
    const runner = endpoint();
    if (runner === undefined)
      throw new SvcError('not_found', 'this host has no sandbox', {
        hint: 'add `sandbox: {}` under plugins in svc.config.yml',
      });
    return runner;
  };
  const take = async (arrival: Arrival, keep: Keep<ChatTaken> = () => []): Promise<ChatTaken> => {
    const runner = running();
    if (!runner.takesDeliveries)
      throw new SvcError('endpoint_unavailable', `${runner.spec.id} is disabled`, {
        hint: `svc endpoints enable ${runner.spec.name}`,
      });
    admit();
    gate.refuseWhenRejecting();
    const { fresh } = await receiveArrivals(inbox, runner.spec, {
      arrivals: [arrival],
      joined: ([stored]) => (stored === undefined ? [] : keep({ id: stored, duplicate: false })),
    });
    const [id] = fresh;
    if (id !== undefined) return { id, duplicate: false };
    return { id: (await inbox.idOf(runner.spec.id, arrival.id)) ?? arrival.id, duplicate: true };
  };
  return {
    say: (message, keep) => take(sandbox.arrival({ sentAt: core.clock.now(), ...message }), keep),
    press: (press, keep) => take(sandbox.press({ sentAt: core.clock.now(), ...press }), keep),
    async messages({ person, room, after, limit }) {
      const place = { person, room };
      const { id } = running().spec;
      const conversation = sandbox.conversation(place);
      const { inbound, outbound, isCut } = await readVisible(core, { endpoint: id, conversation, after: after ?? 0 });
      return pageOf(sandbox.view(inbound, outbound, place), { after, limit, isCut });
    },
  };
}

interface Seen<T> {
  readonly n: number;
  readonly at: number;
  readonly what: T;
}
interface Visible {
  readonly inbound: { n: number; at: number; arrival: Arrival }[];
  readonly outbound: { n: number; at: number; call: Outgoing }[];
}
interface VisiblePart extends Visible {
  /** More rows exist after the position than were read. */
  readonly isCut: boolean;
}
interface Where {
  readonly endpoint: string;
  readonly conversation: string;
  readonly after: number;
}

/** The newest rows of a conversation. `n` is the position of the event by which a row became visible. */
async function readVisible(core: Core, where: Where): Promise<VisiblePart> {
  // The two reads share one head. Otherwise the cursor could skip a row stored between them.
  const [head = 0, oldest = 1] = await Promise.all(['event', 'event_oldest'].map((name) => readCounter(core, name)));
  const isKept = where.after >= oldest - 1;
  if (isKept && where.after > 0) {
    // A following page asks again at each event of the host. So it must not scan the whole history.
    const news = await readPart(core, where, { above: where.after, head });
    if (!changesAny(news)) return news;
  }
  const { items, sends, inbound, outbound, isCut } = await readPart(core, where, { above: oldest - 1, head });
  if (isKept && !changesOlder(sends, outbound)) return { inbound, outbound, isCut };
  const older = await readOlder(core, where, { items, sends, oldest });
  const before = await toVisible(core, older);
  return {
    inbound: [...before.inbound, ...inbound],
    outbound: [...before.outbound, ...outbound],
    isCut: isCut || isFull(older.items, where.after) || isFull(older.sends, where.after),
  };
}

interface Stretch {
  /** The position before the range. */
  readonly above: number;
  /** The last position of the range. */
  readonly head: number;
}

async function readPart(core: Core, where: Where, stretch: Stretch): Promise<VisiblePart & Rows> {
  const items = await inStretches(stretch, (one) => readItems(core, where, one));
  const sends = await inStretches(stretch, (one) => readSends(core, where, one));
  const isCut = isFull(items, where.after) || isFull(sends, where.after);
  return { items, sends, ...(await toVisible(core, { items, sends })), isCut };
}

/** Reads the newest rows in slices. Scanning 100,000 events at once would block the event loop for 70 to 170 ms. */
async function inStretches<T>({ above, head }: Stretch, read: (one: Stretch) => Promise<T[]>): Promise<T[]> {
  const rows: T[] = [];
  for (let end = head; end > above && rows.length < MOST_ROWS; end -= EVENTS_AT_ONCE) {
    if (end < head) await turns(1);
    rows.push(...(await read({ above: Math.max(above, end - EVENTS_AT_ONCE), head: end })));
  }
  return rows.slice(0, MOST_ROWS);
}

/** True if a message is changed, perhaps one outside these rows. */
const changesAny = ({ inbound, outbound }: Visible): boolean =>
  outbound.some(({ call }) => call.kind !== 'post') || inbound.some(({ arrival }) => arrival.kind !== 'message');

/** True if rows after the position may be left out. */
const isFull = (rows: readonly { readonly n: number }[], after: number): boolean =>
  rows.length >= MOST_ROWS && rows.every(({ n }) => Number(n) > after + 1);

/** True if a row edits, removes or reacts to a message outside these rows. */
function changesOlder(sends: readonly SendRow[], outbound: Visible['outbound']): boolean {
  const posted = new Set(sends.flatMap((row) => (row.kind === 'post' ? [row.platform_message] : [])));
  return outbound.some(({ call }) => 'message' in call && call.message !== undefined && !posted.has(call.message));
}

type ItemRow = { n: number; id: string; at: number; kind: InboxKind; version: number; body: string | null };
type SendRow = OutboxRow & { n: number };
interface Rows {
  readonly items: readonly ItemRow[];
  readonly sends: readonly SendRow[];
}

async function readCounter(core: Core, name: string): Promise<number> {
  const row = await core.reader.first(sql.selectFrom('counters').select('value').where('name', '=', name));
  return Number(row?.value ?? 0);
}

const laneOf = ({ endpoint, conversation }: Where): string => laneName(endpoint, conversation, '');

const itemColumns = ['inbox.id', 'inbox.received_at as at', 'inbox.kind', 'inbox.payload_version as version'] as const;

function readItems(core: Core, where: Where, { above, head }: Stretch): Promise<ItemRow[]> {
  return core.reader.all(
    sql
      .selectFrom('event_log')
      .innerJoin('inbox', 'inbox.id', 'event_log.subject')
      .select([...itemColumns, 'inbox.body', 'event_log.seq as n'])
      .where('event_log.type', '=', 'inbox.received')
      .where('event_log.seq', '>', above)
      .where('event_log.seq', '<=', head)
      .where('event_log.endpoint', '=', where.endpoint)
      .where('inbox.lane', '=', laneOf(where))
      .where('inbox.body', 'is not', null)
      .orderBy('event_log.seq', 'desc')
      .limit(MOST_ROWS),
  );
}

function readSends(core: Core, where: Where, { above, head }: Stretch): Promise<SendRow[]> {
  return core.reader.all(
    sql
      .selectFrom('event_log')
      .innerJoin('outbox', 'outbox.id', 'event_log.subject')
      .selectAll('outbox')
      .select('event_log.seq as n')
      .where('event_log.type', '=', 'outbox.sent')
      .where('event_log.seq', '>', above)
      .where('event_log.seq', '<=', head)
      .where('event_log.endpoint', '=', where.endpoint)
      .where('outbox.conversation', '=', where.conversation)
      .where('outbox.body', 'is not', null)
      .orderBy('event_log.seq', 'desc')
      .limit(MOST_ROWS),
  );
}

/**
 * Rows whose events retention has deleted, numbered just below the oldest event.
 * These numbers are never lower than the original ones, so a client's cursor skips none of them. A client recognizes repeats by message id.
 */
async function readOlder(core: Core, where: Where, known: Rows & { readonly oldest: number }): Promise<Rows> {
  const first = await core.reader.first(sql.selectFrom('event_log').select('at').orderBy('seq').limit(1));
  const until = (first?.at ?? core.clock.now()) + CLOCK_SLACK_MS;
  const knownItems = new Set(known.items.map(({ id }) => id));
  const knownSends = new Set(known.sends.map(({ id }) => id));
  const items = await core.reader.all(
    sql
      .selectFrom('inbox')
      .select([...itemColumns, 'inbox.body'])
      .where('endpoint', '=', where.endpoint)
      .where('lane', '=', laneOf(where))
      .where('body', 'is not', null)
      .where('received_at', '<=', until)
      .orderBy('seq', 'desc')
      .limit(MOST_ROWS),
  );
  const sends = await core.reader.all(
    sql
      .selectFrom('outbox')
      .selectAll()
      .where('endpoint', '=', where.endpoint)
      .where('conversation', '=', where.conversation)
      .where('state', '=', 'sent')
      .where('body', 'is not', null)
      .where('done_at', '<=', until)
      .orderBy('seq', 'desc')
      .limit(MOST_ROWS),
  );
  const seen: Seen<{ readonly item: (typeof items)[number] } | { readonly send: (typeof sends)[number] }>[] = [
    ...items.toReversed().flatMap((item) => (knownItems.has(item.id) ? [] : [{ n: 0, at: item.at, what: { item } }])),
    ...sends
      .toReversed()
      .flatMap((send) => (knownSends.has(send.id) ? [] : [{ n: 0, at: send.done_at ?? 0, what: { send } }])),
  ].sort((a, b) => a.at - b.at);
  const numbered = seen.map(({ what }, rank) => ({ n: Math.max(1, known.oldest - seen.length + rank), what }));
  return {
    items: numbered.flatMap(({ n, what }) => ('item' in what ? [{ ...what.item, n }] : [])),
    sends: numbered.flatMap(({ n, what }) => ('send' in what ? [{ ...what.send, n }] : [])),
  };
}

async function toVisible(core: Core, { items, sends }: Rows): Promise<Visible> {
  const inbound = items.flatMap((row) => {
    const payload = readPayload(row.kind, row.version, row.body);
    return payload.kind === 'arrival' ? [{ n: Number(row.n), at: row.at, arrival: payload.arrival }] : [];
  });
  const outbound: Visible['outbound'] = [];
  for (const row of sends) {
    const resolved = await resolveCall(core, row);
    if (resolved.kind === 'ok')
      outbound.push({ n: Number(row.n), at: row.done_at ?? row.created_at, call: resolved.call });
  }
  return { inbound, outbound };
}
