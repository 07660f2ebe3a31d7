// Whether deliveries are taken: open, or paused by an operator. The state is stored, so it survives restarts. The end of a pause (`until`) is a row
// of the due table.
//
//   INGRESS-GATE-1  Mode `park`: deliveries are verified, stored and acknowledged. They are handled once ingress is open again.
//   INGRESS-GATE-2  Mode `reject`: deliveries get 503 `ingress_paused` with Retry-After, and nothing is stored.
//   INGRESS-GATE-3  Changes run one after the other. Each is decided on the state that it replaces.
//   INGRESS-GATE-4  Until the stored state is read, the state is unknown and reported so: neither open nor paused. Nothing begins.
//   INGRESS-GATE-5  Both modes hold whatever begins an effect: items of every kind, tasks, cron and jobs, and requests to routes of plugins.
//                   Stored items wait until ingress is open again, also after a change of the mode.
//   INGRESS-GATE-6  What is under way ends, and sends go out.
import type { IngressChange, IngressState } from '../../shared/api/runtime.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { readDateTime } from '../../shared/time/date-time.ts';
import { type Core, commitOrThrow, maskedText } from '../core/core.ts';
import type { Statement } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { Keep } from '../http/answer/kept-answer.ts';
import type { AskedOfIngress } from '../http/api/ingress-api.ts';
import { type DueRow, takeDue } from '../timers/due-store.ts';
import { countOpen, OPEN, readIngress, writeIngress } from './stored-pause.ts';

const LONGEST_PAUSE_MS = 366 * 86_400_000;

export interface IngressGateDeps {
  readonly changed: () => void;
  /** A due row was stored. `at`: the time at which it fires. */
  readonly due: (at: number) => void;
  /** Number of items that are being handled. */
  readonly running: () => number;
}

export class IngressGate {
  readonly #core: Core;
  readonly #on: IngressGateDeps;
  #state: IngressState | undefined;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(core: Core, on: IngressGateDeps) {
    this.#core = core;
    this.#on = on;
  }

  /** Undefined until the database has been read. */
  get state(): IngressState | undefined {
    return this.#state;
  }
  /** True while nothing may begin (INGRESS-GATE-5). */
  get holds(): boolean {
    return this.#state?.state !== 'open';
  }

  /** Throws `storage_unavailable` until the database has been read. */
  known(): IngressState {
    if (this.#state !== undefined) return this.#state;
    throw new SvcError('storage_unavailable', 'whether ingress is paused is not known: the database is not open', {
      hint: 'svc runtime status says why',
      details: { retryAfterMs: 2_000 },
    });
  }

  async load(): Promise<void> {
    this.#state = await readIngress(this.#core.reader);
  }

  /** Throws `ingress_paused` in mode `reject`. */
  refuseWhenRejecting(): void {
    if (this.#state?.mode === 'reject') this.refuseWhenPaused();
  }

  /** Throws `ingress_paused` in both modes, for what cannot be parked. Throws `storage_unavailable` until the state is known. */
  refuseWhenPaused(): void {
    const { state, until: end } = this.known();
    if (state === 'open') return;
    const until = end === null ? undefined : Date.parse(end) - this.#core.clock.now();
    throw new SvcError('ingress_paused', 'an operator has paused ingress', {
      details: { retryAfterMs: Math.max(1_000, until ?? 60_000) },
    });
  }

  /** Idempotent: setting the same state changes only reason, mode and until. Throws `precondition_failed` if `isMeant` rejects the current state. */
  set(
    change: IngressChange,
    actor: string,
    { isMeant = () => true, keep = () => [] }: AskedOfIngress = {},
  ): Promise<IngressState> {
    return this.#inTurn(async () => {
      if (!isMeant(this.known()))
        throw new SvcError('precondition_failed', 'it has changed since it was read', {
          hint: 'Read it again, then repeat.',
        });
      return this.#set(change, actor, keep);
    });
  }

  /** The time `until` of a pause has come. */
  reopen(row: DueRow): Promise<void> {
    return this.#inTurn(() => {
      const now = new Date(this.#core.clock.now()).toISOString();
      const next: IngressState = { ...OPEN, since: now, by: 'until' };
      return this.#store(next, {
        actor: 'until',
        automatic: true,
        statements: [takeDue(row), ...writeIngress(next, { withEnd: false })],
      });
    });
  }

  /** Number of items that wait for the end of the pause; 0 while ingress is open. */
  async parked(): Promise<number> {
    if (this.known().state === 'open') return 0;
    return Math.max(0, (await countOpen(this.#core.reader)) - this.#on.running());
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#changing.then(change);
    this.#changing = turn.catch(() => {}); // the caller gets the error
    return turn;
  }

  async #set(change: IngressChange, actor: string, keep: Keep<IngressState>): Promise<IngressState> {
    const former = this.known();
    refuseDropped(change);
    if (change.state === 'open' && former.state === 'open') return former;
    const until = this.#untilOf(change);
    const now = this.#core.clock.now();
    const next: IngressState =
      change.state === 'open'
        ? { ...OPEN, since: new Date(now).toISOString(), by: actor }
        : {
            state: 'paused',
            mode: change.mode ?? 'park',
            reason: change.reason === undefined ? null : maskedText(this.#core, change.reason),
            until: until === undefined ? null : new Date(until).toISOString(),
            since: former.state === 'paused' ? former.since : new Date(now).toISOString(),
            by: actor,
          };
    await this.#store(next, { actor, automatic: false, statements: [...writeIngress(next), ...keep(next)] });
    return next;
  }

  async #store(
    next: IngressState,
    of: { readonly actor: string; readonly automatic: boolean; readonly statements: readonly Statement[] },
  ): Promise<void> {
    const core = this.#core;
    const head = { at: core.clock.now(), runtimeId: core.runtimeId, actor: of.actor };
    const event =
      next.state === 'paused'
        ? ({
            ...head,
            type: 'ingress.paused',
            data: { mode: next.mode, reason: next.reason, until: next.until },
          } as const)
        : ({
            ...head,
            type: 'ingress.resumed',
            data: { parked: await this.parked(), automatic: of.automatic },
          } as const);
    await commitOrThrow(core.writer, {
      name: 'ingress.changed',
      statements: [...of.statements, ...recordEvents([event])],
    });
    this.#state = next;
    if (next.until !== null) this.#on.due(Date.parse(next.until));
    this.#on.changed();
  }

  #untilOf(change: IngressChange): number | undefined {
    if (change.state === 'open' || change.until === undefined) return undefined;
    const at = readDateTime(change.until);
    const now = this.#core.clock.now();
    if (at === undefined || at <= now || at > now + LONGEST_PAUSE_MS)
      throw new SvcError('invalid_request', '`until` must be a time in the future, at most a year away');
    return at;
  }
}

/** Refuses fields that only a pause has. An open ingress would drop them silently. */
function refuseDropped({ state, mode, reason, until }: IngressChange): void {
  if (state !== 'open') return;
  const dropped = Object.entries({ mode: mode === 'park' ? undefined : mode, reason, until })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `\`${name}\``);
  if (dropped.length > 0)
    throw new SvcError(
      'invalid_request',
      `${dropped.join(' and ')} cannot be with \`state: open\`: only a pause has that`,
      {
        hint: 'pause it with {"state":"paused"}, or leave that out',
      },
    );
}
