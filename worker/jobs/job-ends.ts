// Notes how runs end: when their item is over, and at a start for what a kill left between the two.
import type { Core } from '../core/core.ts';
import { recordEvents } from '../events/event-history.ts';
import { countEnd, endRun, readEnded } from './job-store.ts';

const PAGE = 200;

type Ended = Awaited<ReturnType<typeof readEnded>>[number];
interface End {
  readonly state: 'done' | 'failed' | 'cancelled';
  readonly reason: string | null;
}

export class JobEnds {
  readonly #core: Core;
  #looking: Promise<void> | undefined;
  #again = false;

  constructor(core: Core) {
    this.#core = core;
  }

  /** Notes every run whose item is over. Calls while a look is under way share the next one. */
  look(): Promise<void> {
    if (this.#looking !== undefined) {
      this.#again = true;
      return this.#looking;
    }
    this.#looking = this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    do {
      this.#again = false;
      for (
        let rows = await readEnded(this.#core.reader, PAGE);
        rows.length > 0;
        rows = await readEnded(this.#core.reader, PAGE)
      ) {
        if (FAILPOINTS) await this.#core.point('job_ended');
        await Promise.all(rows.map((row) => this.#note(row)));
        if (rows.length < PAGE) break;
      }
    } while (this.#again);
  }

  async #note(row: Ended): Promise<void> {
    const { writer, clock, runtimeId } = this.#core;
    const now = clock.now();
    const { state, reason } = endOf(row);
    const at = row.item_done_at ?? now;
    const data = { job: row.job, due: row.due, outcome: state, durationMs: Math.max(0, at - row.started_at), reason };
    const event = { type: 'job.ended', at: now, runtimeId, subject: row.job, runId: row.run_id, data } as const;
    await writer.commit({
      name: 'job.ended',
      statements: [
        endRun({ run: row.run_id, state, reason, at }),
        countEnd({ name: row.job, outcome: state, count: 1, at }),
        ...recordEvents([event]),
      ],
    });
  }
}

/** The texts of operators begin with the word of their change. Only an operator's change counts as one. */
function endOf({ item_state: state, last_error: error, operator_changes: changes }: Ended): End {
  const isChanged = (changes ?? 0) > 0;
  if (state === null) return { state: 'failed', reason: 'item_gone' };
  if (state === 'dead')
    return { state: 'failed', reason: isChanged && error?.startsWith('held: ') === true ? 'held' : 'handler_failed' };
  if (isChanged && error?.startsWith('dropped: ') === true) return { state: 'cancelled', reason: 'dropped' };
  return { state: 'done', reason: null };
}
