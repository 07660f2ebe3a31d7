// Plugin subscriptions to events. Each subscriber follows the event history by a stored position. It gets every event of its type as an inbox item,
// in order, at least once. A new subscriber starts at the newest event.
//
//   SUBSCRIPTIONS-1  The position is committed with each item, and every 30 s while no event matches. So every reported gap is a real one.
//   SUBSCRIPTIONS-2  If events were trimmed before a subscriber got them, it is told once, in order: by a host event, a log line, and an item if it
//                    handles gaps. Nothing is skipped silently.
//   SUBSCRIPTIONS-3  At most MOST_OPEN events of a subscriber are in the inbox, and they take no room reserved for messages. The history keeps the
//                    rest; each handled event triggers the next read.

import { messageOf } from '../../shared/svc-error.ts';
import type { Timer } from '../../shared/time/clock.ts';
import type { Core } from '../core/core.ts';
import { sql, statement } from '../database/statement.ts';
import type { Statement } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { SubscriptionCapability } from '../handling/plan/capabilities.ts';
import type { GenerationView } from '../handling/plan/generation-view.ts';
import type { Inbox } from '../inbox/inbox.ts';
import type { Delivery } from '../inbox/prepare-item.ts';

const PAGE = 100;
const MOST_OPEN = 100;
/** Events about the subscribers' own items are not delivered. Handling one would cause the next, without end. */
const SUBSCRIBERS = '%#subscribe/%';
const KEEP_PLACE_MS = 30_000;

export class Subscriptions {
  readonly #core: Core;
  readonly #deps: { readonly inbox: Inbox; readonly stored: () => void };
  #subscribers: readonly SubscriptionCapability[] = [];
  #pumping: Promise<void> | undefined;
  #again = false;
  /** Positions up to which no event matched, so that they are not searched again at each event. */
  readonly #looked = new Map<string, number>();
  readonly #kept = new Map<string, number>();
  #keeping: Timer | undefined;

  constructor(core: Core, deps: { readonly inbox: Inbox; readonly stored: () => void }) {
    this.#core = core;
    this.#deps = deps;
    core.writer.onHead(() => this.#wake());
  }

  async serve(generation: GenerationView): Promise<void> {
    const subscribers = generation.capabilities.ofKind('subscribe');
    for (const { id } of subscribers) {
      const head = sql
        .selectFrom('counters')
        .select(({ val }) => [val(id).as('capability'), 'value as position'])
        .where('name', '=', 'event');
      const start = statement(
        sql
          .insertInto('subscriptions')
          .columns(['capability', 'position'])
          .expression(head)
          .onConflict((conflict) => conflict.column('capability').doNothing()),
      );
      await this.#core.writer.commit({ name: 'subscription.start', statements: [start] });
    }
    this.#subscribers = subscribers;
    this.#wake();
  }

  /** Stores the positions of all subscribers. */
  async stop(): Promise<void> {
    this.#keeping?.cancel();
    await this.#pumping;
    await this.#keepPlaces();
  }

  #wake(): void {
    if (this.#subscribers.length === 0) return;
    if (this.#pumping !== undefined) {
      this.#again = true;
      return;
    }
    this.#pumping = this.#pump().finally(() => {
      this.#pumping = undefined;
      if (!this.#again) return;
      this.#again = false;
      this.#wake();
    });
  }

  async #pump(): Promise<void> {
    try {
      for (const subscriber of this.#subscribers) while (await this.#advance(subscriber));
    } catch (error) {
      this.#core.log.warn({ err: error }, 'subscriptions could not be followed');
    }
  }

  /** Handles one page of events: each item is committed with its new position. True if there may be more events and room for them. */
  async #advance(subscriber: SubscriptionCapability): Promise<boolean> {
    const { id, spec } = subscriber;
    const { reader, writer } = this.#core;
    const { inbox } = this.#deps;
    const page = Math.min(PAGE, MOST_OPEN - inbox.openIn(id), inbox.room);
    if (page <= 0) return false; // the subscriber's share or the inbox is full
    const head = await reader.first(sql.selectFrom('counters').select('value').where('name', '=', 'event'));
    const at = await reader.first(sql.selectFrom('subscriptions').select('position').where('capability', '=', id));
    const after = Math.max(at?.position ?? 0, this.#looked.get(id) ?? 0);
    const events = await reader.all(
      sql
        .selectFrom('event_log')
        .select(['seq', 'data'])
        .where('seq', '>', after)
        .where('type', '=', spec.event)
        .where((eb) => eb.or([eb('endpoint', 'is', null), eb('endpoint', 'not like', SUBSCRIBERS)]))
        .orderBy('seq')
        .limit(page),
    );
    // Read after the page, so that a trim during the page is noticed.
    const oldest = await reader.first(sql.selectFrom('counters').select('value').where('name', '=', 'event_oldest'));
    if (Number(oldest?.value ?? 1) > after + 1) {
      await this.#tellGap(subscriber, { after, oldest: Number(oldest?.value) });
      return true; // there may be more events behind the gap
    }
    for (const event of events) {
      const move = moveTo(id, event.seq);
      const answer = await inbox.storeWith(
        {
          endpoint: id,
          deliveryId: `event/${event.seq}`,
          payload: { kind: 'event', type: spec.event, data: JSON.parse(event.data) as unknown },
          lane: id,
          capability: id,
        },
        { name: 'subscription.event', statements: [move] },
      );
      if (answer.kind === 'committed') continue;
      if (answer.reason !== 'unique')
        throw new Error(`event ${event.seq} could not be handed to ${id}: ${answer.detail}`);
      await writer.commit({ name: 'subscription.skip', statements: [move] });
    }
    if (events.length < page && head !== undefined) this.#look(id, Number(head.value));
    if (events.length > 0) this.#deps.stored();
    return events.length === page;
  }

  /** Reports trimmed events once: host event, log line, and an item if the subscriber handles gaps. */
  async #tellGap(
    { id, spec }: SubscriptionCapability,
    { after, oldest }: { readonly after: number; readonly oldest: number },
  ): Promise<void> {
    const { clock, runtimeId, writer, log } = this.#core;
    const atMost = oldest - 1 - after;
    const told = { type: 'subscription.gap', at: clock.now(), runtimeId, data: { capability: id, atMost } } as const;
    const unit = { name: 'subscription.gap', statements: [moveTo(id, oldest - 1), ...recordEvents([told])] };
    const delivery: Delivery = {
      endpoint: id,
      deliveryId: `gap/${after}-${oldest}`,
      payload: { kind: 'event', type: spec.event, data: null, missed: { atMost } },
      lane: id,
      capability: id,
    };
    const isTold = spec.missed !== undefined;
    const answer = await (isTold ? this.#deps.inbox.storeWith(delivery, unit) : writer.commit(unit));
    if (answer.kind === 'refused' && answer.reason !== 'unique')
      throw new Error(`a gap could not be told to ${id}: ${answer.detail}`);
    if (answer.kind === 'refused')
      await writer.commit({ name: 'subscription.skip', statements: [moveTo(id, oldest - 1)] });
    log.warn({ capability: id, atMost }, 'events were trimmed before a subscriber got them');
    this.#looked.set(id, oldest - 1);
    if (isTold) this.#deps.stored();
  }

  #look(id: string, head: number): void {
    this.#looked.set(id, head);
    this.#keeping ??= this.#core.clock.after(
      KEEP_PLACE_MS,
      () => {
        this.#keeping = undefined;
        void this.#keepPlaces();
      },
      { background: true },
    );
  }

  /** Stores the positions reached without a match. If this fails, the next call stores them. */
  async #keepPlaces(): Promise<void> {
    const moved = [...this.#looked].filter(([id, position]) => position > (this.#kept.get(id) ?? 0));
    if (moved.length === 0) return;
    const statements = moved.map(([id, position]) => moveTo(id, position));
    try {
      await this.#core.writer.commit({ name: 'subscription.place', statements });
      for (const [id, position] of moved) this.#kept.set(id, position);
    } catch (error) {
      this.#core.log.warn({ error: messageOf(error) }, 'places of subscriptions could not be stored');
    }
  }
}

/** A position never moves back. */
const moveTo = (id: string, position: number): Statement =>
  statement(
    sql.updateTable('subscriptions').set({ position }).where('capability', '=', id).where('position', '<', position),
  );
