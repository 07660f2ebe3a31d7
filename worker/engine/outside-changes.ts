// A command may change items in the database while this worker does not answer. A worker that recovers picks up those changes here.
//
//   OUTSIDE-CHANGES-1  Guards of its statements keep the worker from claiming or ending an item that was ended outside. Its counts, lanes and cached
//                      rows are in memory; they are corrected here within two seconds.
import type { Core } from '../core/core.ts';
import { readOutside } from '../database/outside-writer.ts';
import { sql } from '../database/statement.ts';
import { followInbox, type InboxRunners } from '../inbox/inbox-admin.ts';
import { readItem } from '../inbox/inbox-store.ts';
import type { LaneRunner } from '../lanes/lane-runner.ts';
import { laneOf, readSend, type SendHead } from '../outbox/outbox-store.ts';

const LOOK_MS = 1_000;
const PAGE = 500;
const TYPES = ['inbox.held', 'inbox.dropped', 'inbox.replayed', 'outbox.held', 'outbox.dropped', 'outbox.replayed'];

export interface OutsideChangesDeps extends InboxRunners {
  readonly core: Core;
  readonly sender: Pick<LaneRunner<SendHead>, 'dropped' | 'reread'>;
}

interface Change {
  readonly seq: number;
  readonly type: string;
  readonly item: string;
  readonly was: InboxWas;
}
type InboxWas = Parameters<ReturnType<typeof followInbox>['ended']>[0]['state'];

export class OutsideChanges {
  readonly #deps: OutsideChangesDeps;
  #seen: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: OutsideChangesDeps) {
    this.#deps = deps;
  }

  /** Everything up to this position is included in what the stores read at start. */
  async load(): Promise<void> {
    this.#seen = await readOutside(this.#deps.core.reader);
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.look().catch(() => {}), LOOK_MS); // a storage failure is reported elsewhere
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async look(): Promise<void> {
    const { core } = this.#deps;
    const now = await readOutside(core.reader);
    const seen = this.#seen;
    if (seen === undefined || now <= seen) return;
    this.#seen = now; // the next look begins before a long one ends
    const changes = await this.#followAll(seen, now);
    core.log.warn({ changes }, 'items were changed beside this worker, while it did not answer');
  }

  /** Follows a page at a time: a bulk change has many. */
  async #followAll(seen: number, now: number): Promise<number> {
    let count = 0;
    let after = seen;
    try {
      for (;;) {
        const page = await this.#changesBetween(after, now);
        const last = page.at(-1);
        if (last === undefined) return count;
        for (const change of page) await this.#follow(change);
        this.#reread(page);
        count += page.length;
        after = last.seq;
        await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      this.#seen = after;
      throw error;
    }
  }

  async #changesBetween(after: number, through: number): Promise<readonly Change[]> {
    const { core } = this.#deps;
    const rows = await core.reader.all(
      sql
        .selectFrom('event_log')
        .select(['seq', 'type', 'data'])
        .where('seq', '>', after)
        .where('seq', '<=', through)
        .where('type', 'in', TYPES)
        .where('runtime_id', '!=', core.runtimeId)
        .orderBy('seq')
        .limit(PAGE),
    );
    return rows.map(({ seq, type, data }) => ({ ...(JSON.parse(data) as Omit<Change, 'seq' | 'type'>), seq, type }));
  }

  /** Items that are back in line are read once a page. */
  #reread(changes: readonly Change[]): void {
    const { dispatcher, sender } = this.#deps;
    if (changes.some(({ type }) => type === 'inbox.replayed')) dispatcher.reread();
    if (changes.some(({ type }) => type === 'outbox.replayed')) sender.reread();
  }

  async #follow({ type, item, was }: Change): Promise<void> {
    const { core, sender, inbox } = this.#deps;
    if (type.startsWith('inbox.')) {
      const row = await readItem(core.reader, item);
      if (row !== undefined && type === 'inbox.replayed') inbox.returned(row);
      else if (row !== undefined) followInbox(this.#deps).ended({ ...row, state: was });
    } else if (type !== 'outbox.replayed') {
      const row = await readSend(core.reader, item);
      if (row !== undefined) sender.dropped(laneOf(row.endpoint, row.conversation), item);
    }
  }
}
