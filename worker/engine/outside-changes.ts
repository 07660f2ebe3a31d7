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
const TYPES = ['inbox.held', 'inbox.dropped', 'inbox.replayed', 'outbox.held', 'outbox.dropped', 'outbox.replayed'];

export interface OutsideChangesDeps extends InboxRunners {
  readonly core: Core;
  readonly sender: Pick<LaneRunner<SendHead>, 'dropped' | 'reread'>;
}

interface Change {
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
    const changes = await this.#changesBetween(seen, now);
    this.#seen = now;
    for (const change of changes) await this.#follow(change);
    core.log.warn({ changes: changes.length }, 'items were changed beside this worker, while it did not answer');
  }

  async #changesBetween(after: number, through: number): Promise<readonly Change[]> {
    const { core } = this.#deps;
    const rows = await core.reader.all(
      sql
        .selectFrom('event_log')
        .select(['type', 'data'])
        .where('seq', '>', after)
        .where('seq', '<=', through)
        .where('type', 'in', TYPES)
        .where('runtime_id', '!=', core.runtimeId)
        .orderBy('seq'),
    );
    return rows.map(({ type, data }) => ({ ...(JSON.parse(data) as Omit<Change, 'type'>), type }));
  }

  async #follow({ type, item, was }: Change): Promise<void> {
    const { core, sender } = this.#deps;
    if (type.startsWith('inbox.')) {
      const row = await readItem(core.reader, item);
      const follow = followInbox(this.#deps);
      if (row !== undefined && type === 'inbox.replayed') follow.returned(row);
      else if (row !== undefined) follow.ended({ ...row, state: was });
    } else if (type === 'outbox.replayed') sender.reread();
    else {
      const row = await readSend(core.reader, item);
      if (row !== undefined) sender.dropped(laneOf(row.endpoint, row.conversation), item);
    }
  }
}
