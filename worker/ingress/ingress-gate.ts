// Whether deliveries are taken: open, or paused by an operator. The state is stored, so it survives restarts. The end of a pause (`until`) is a row
// of the due table.
//
//   INGRESS-GATE-1  Mode `park`: deliveries are verified, stored and acknowledged. They are handled once ingress is open again.
//   INGRESS-GATE-2  Mode `reject`: deliveries get 503 `ingress_paused` with Retry-After, and nothing is stored.
//   INGRESS-GATE-3  Changes run one after the other. Each is decided on the state that it replaces.
//   INGRESS-GATE-4  Until the stored state is read, the state is unknown and reported so: neither open nor paused.
//   INGRESS-GATE-5  Parked deliveries wait until ingress is open again, also after a change of the pause from `park` to `reject`.
import type { IngressChange, IngressState } from '../../shared/api/runtime.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { readDateTime } from '../../shared/time/date-time.ts';
import { type Core, commitOrThrow, maskedText } from '../core/core.ts';
import { isOpen } from '../database/open-rows.ts';
import { readMeta, writeMeta } from '../database/project-state.ts';
import { sql } from '../database/statement.ts';
import type { Statement } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { Keep } from '../http/answer/kept-answer.ts';
import type { AskedOfIngress } from '../http/api/ingress-api.ts';
import { type DueRow, putDue, removeDue, takeDue } from '../timers/due-store.ts';

const KEY = 'ingress';
const DUE_ID = 'ingress/until';
const OPEN: IngressState = { state: 'open', mode: 'park', reason: null, until: null, since: null, by: null };
const LONGEST_PAUSE_MS = 366 * 86_400_000;

export interface IngressGateDeps {
  readonly changed: () => void;
  /** A due row was stored. `at`: the time at which it fires. */
  readonly due: (at: number) => void;
}

/** `holds`: the pause has parked deliveries (INGRESS-GATE-5). An older svc left it out. */
interface StoredIngress extends IngressState {
  readonly holds?: boolean;
}

export class IngressGate {
  readonly #core: Core;
  readonly #on: IngressGateDeps;
  #state: IngressState | undefined;
  #holds = false;
  #changing: Promise<unknown> = Promise.resolve();

  constructor(core: Core, on: IngressGateDeps) {
    this.#core = core;
    this.#on = on;
  }

  /** Undefined until the database has been read. */
  get state(): IngressState | undefined {
    return this.#state;
  }
  /** True while stored deliveries must not be handled. */
  get holds(): boolean {
    return this.#holds;
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
    const stored = await readMeta(this.#core.reader, KEY);
    const { holds, ...state }: StoredIngress = stored === undefined ? OPEN : (JSON.parse(stored) as StoredIngress);
    this.#state = state;
    this.#holds = holds ?? isParking(state);
  }

  /** Throws `ingress_paused` in mode `reject`. */
  refuseWhenRejecting(): void {
    if (this.#state?.state !== 'paused' || this.#state.mode !== 'reject') return;
    const until = this.#state.until === null ? undefined : Date.parse(this.#state.until) - this.#core.clock.now();
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
      return this.#store(
        { ...OPEN, since: now, by: 'until' },
        { actor: 'until', automatic: true, statements: [takeDue(row)] },
      );
    });
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
    const due =
      until === undefined
        ? removeDue(DUE_ID)
        : putDue({ id: DUE_ID, kind: 'ingress', at: until, capability: null, lane: null, data: '{}' });
    await this.#store(next, { actor, automatic: false, statements: [due, ...keep(next)] });
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
            data: { parked: await this.#parked(), automatic: of.automatic },
          } as const);
    const holds = isParking(next) || (next.state === 'paused' && this.#holds);
    const stored: StoredIngress = { ...next, holds };
    await commitOrThrow(core.writer, {
      name: 'ingress.changed',
      statements: [writeMeta(KEY, JSON.stringify(stored)), ...of.statements, ...recordEvents([event])],
    });
    this.#state = next;
    this.#holds = holds;
    if (next.until !== null) this.#on.due(Date.parse(next.until));
    this.#on.changed();
  }

  /** Number of deliveries that were parked. */
  async #parked(): Promise<number> {
    if (!this.#holds) return 0;
    const row = await this.#core.reader.first(
      sql
        .selectFrom('inbox')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .where(isOpen)
        .where('state', '=', 'received')
        .where('kind', 'in', ['arrival', 'webhook']),
    );
    return Number(row?.n ?? 0);
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

const isParking = ({ state, mode }: IngressState): boolean => state === 'paused' && mode === 'park';

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
