// Plugins that subscribe to facts: each follows the event history by a stored position and gets every event of its type as an item,
// in order, at least once. A new subscriber starts at the head.
import { messageOf } from '../../shared/svc-error.ts';
import type { Core } from '../core.ts';
import { sql, statement } from '../database/statement.ts';
import type { SubscriptionCapability } from '../handling/capabilities.ts';
import type { GenerationView } from '../handling/generation-view.ts';
import type { Inbox } from '../inbox/inbox.ts';

const PAGE = 100;
/** Events about the items of subscribers themselves are told to none: handling one would cause the next, without end. */
const SUBSCRIBERS = '%#subscribe/%';

export class Subscriptions {
  readonly #core: Core;
  readonly #deps: { readonly inbox: Inbox; readonly stored: () => void };
  #subscribers: readonly SubscriptionCapability[] = [];
  #pumping: Promise<void> | undefined;
  #again = false;
  /** How far each was looked through in vain: not looked through again at each event. */
  readonly #looked = new Map<string, number>();

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
      for (const subscriber of this.#subscribers) while ((await this.#advance(subscriber)) === PAGE);
    } catch (error) {
      this.#core.log.warn({ error: messageOf(error) }, 'subscriptions could not be followed');
    }
  }

  /** One page of events of the type: items and the new position in one unit each. */
  async #advance({ id, spec }: SubscriptionCapability): Promise<number> {
    const { reader, writer } = this.#core;
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
        .limit(PAGE),
    );
    for (const event of events) {
      const item = this.#deps.inbox.statementsFor({
        endpoint: id,
        deliveryId: `event/${event.seq}`,
        payload: { kind: 'event', type: spec.event, data: JSON.parse(event.data) as unknown },
        lane: id,
        capability: id,
      });
      const move = statement(
        sql.updateTable('subscriptions').set({ position: event.seq }).where('capability', '=', id),
      );
      const answer = await writer.commit({ name: 'subscription.event', statements: [...item.statements, move] });
      if (answer.kind === 'committed') item.stored();
      else if (answer.reason !== 'unique')
        throw new Error(`event ${event.seq} could not be handed to ${id}: ${answer.detail}`);
      else await writer.commit({ name: 'subscription.skip', statements: [move] });
    }
    if (events.length < PAGE && head !== undefined) this.#looked.set(id, Number(head.value));
    if (events.length > 0) this.#deps.stored();
    return events.length;
  }
}
