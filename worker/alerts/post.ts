// Messages of alerts: who gets which, written for the platforms of their targets. Whoever stores what they tell of stores them in the same unit.
import type { Alert, Alerts } from '../../shared/alerts/alert-machine.ts';
import { type HostRule, hostRules } from '../../shared/alerts/set-rules.ts';
import type { Telling } from '../../shared/alerts/tell.ts';
import type { AlertTested } from '../../shared/api/monitoring/alert.ts';
import type { Config } from '../../shared/config/load.ts';
import { uuidv7 } from '../../shared/identifiers.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { ALERTS_ACTOR } from '../core/actors.ts';
import type { Core } from '../core/core.ts';
import { readStarts } from '../database/starts-ledger.ts';
import type { UnitAnswer } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import { type Decided, writtenEffects } from '../handling/effects/effects.ts';
import type { GenerationView } from '../handling/plan/generation-view.ts';
import type { Effect } from '../handling/run/run.ts';
import type { Keep } from '../http/answer/kept-answer.ts';
import type { Rich } from '../sdk/index.ts';
import { carriersOf, type Target } from './carriers.ts';
import { messageOf, testMessage } from './message.ts';
import { isSamePlace, missed, readUnsent, routingOf, type Unsent } from './unsent.ts';

export interface PostDeps {
  readonly core: Core;
  readonly config: () => Config;
  /** The host's name without secrets. */
  readonly project: () => string;
  readonly generation: () => GenerationView | undefined;
  /** True for an account that an operator has disabled. */
  readonly isDisabled: (endpoint: string) => boolean;
  readonly decide: (decided: Decided, commit: () => Promise<UnitAnswer>) => Promise<UnitAnswer>;
}

export interface Messages {
  readonly effects: readonly Effect[];
  /** Name of which target carries which alert. It changes with either. */
  readonly routing: string;
  /** Messages that these stand for, which did not go out. */
  readonly replaced: readonly Unsent[];
}

export const NO_MESSAGES: Messages = { effects: [], routing: '', replaced: [] };

const STARTS_LOOKED_AT = 20;

export class AlertPost {
  readonly #deps: PostDeps;

  constructor(deps: PostDeps) {
    this.#deps = deps;
  }

  get targets(): readonly Target[] {
    const generation = this.#deps.generation();
    return this.#deps.config().alerts.notify.map((target) => {
      const endpoint = generation?.endpoint(target.endpoint) ?? target.endpoint;
      return { ...target, endpoint, isDisabled: this.#deps.isDisabled(endpoint) };
    });
  }

  rules(): readonly HostRule[] {
    return hostRules(this.#deps.config().alerts.rules);
  }

  /**
   * `alerts`: as they are once this is told, `now`: the time that they have for it. A conversation that was told nothing for a while gets what it
   * missed as well.
   */
  async messages(
    { alerts, tellings, now }: { readonly alerts: Alerts; readonly tellings: readonly Telling[]; readonly now: number },
    isSilenced: (alert: Alert) => boolean,
  ): Promise<Messages> {
    const { core, project } = this.#deps;
    const { targets } = this;
    const carried = carriersOf(tellings, targets);
    if (carried.length === 0) return NO_MESSAGES;
    const rules = this.rules();
    const routing = routingOf(targets, rules);
    const unsent = await readUnsent(
      core.reader,
      carried.map(({ target }) => target),
      { now, routing },
    );
    const late = unsent.flatMap((one) =>
      carriersOf(missed(alerts, one.since, isSilenced), targets)
        .filter(({ target }) => isSamePlace(one, target))
        .map((each) => ({ ...each, since: one.since })),
    );
    const replaced = unsent.filter((one) => late.some(({ target }) => isSamePlace(one, target)));
    const timely = carried.filter(({ target }) => !replaced.some((one) => isSamePlace(one, target)));
    const all = [...timely.map((each) => ({ ...each, since: undefined })), ...late];
    const isCrash = all.some((each) => each.tellings.some(({ alert }) => alert.name.startsWith('SvcCrash')));
    const of = {
      project: project(),
      runtimeId: core.runtimeId,
      crashed: isCrash ? await lastCrashed(core.reader) : undefined,
      rules: new Map(rules.map((rule) => [rule.name, rule])),
    };
    const effects = all.map(({ target, tellings: told, since }) =>
      sendTo(target, messageOf(told, { ...of, isLate: since !== undefined }), since ?? now),
    );
    return { effects, routing, replaced };
  }

  /** A target whose platform cannot write it gets nothing, and the others get theirs. */
  writable(
    generation: GenerationView,
    { effects, routing }: Pick<Messages, 'effects' | 'routing'>,
  ): Decided | undefined {
    const decided = (some: readonly Effect[]) => this.#decided(generation, some, routing);
    const all = decided(effects);
    if (all !== undefined || effects.length < 2) return all;
    return decided(effects.filter((effect) => decided([effect]) !== undefined));
  }

  /** Puts a test message into the outbox for each target, or for those of one account. */
  async test(actor: string, endpoint: string | undefined, keep: Keep<AlertTested>): Promise<AlertTested> {
    const { core, generation, decide, project } = this.#deps;
    const view = generation();
    const wanted = endpoint === undefined ? undefined : (view?.endpoint(endpoint) ?? endpoint);
    const targets = this.targets.filter((target) => wanted === undefined || target.endpoint === wanted);
    if (view === undefined) throw notServed();
    if (targets.length === 0) throw noTarget(endpoint);
    const now = core.clock.now();
    const text = testMessage({ project: project(), runtimeId: core.runtimeId });
    const decided = this.#decided(
      view,
      targets.map((target) => sendTo(target, text, now)),
      null,
    );
    if (decided === undefined) throw new SvcError('refused', 'the test message could not be written: the log says why');
    const sends = [...decided.rows, ...decided.dead].map(({ id, endpoint: account, conversation }) => ({
      id,
      endpoint: account,
      conversation,
    }));
    const told = {
      type: 'alert.tested',
      at: now,
      runtimeId: core.runtimeId,
      actor,
      data: { sends: sends.length },
    } as const;
    const statements = [...decided.statements, ...keep({ sends }), ...recordEvents([told])];
    const answer = await decide(decided, () => core.writer.commit({ name: 'alerts.tested', statements }));
    if (answer.kind === 'refused') throw new Error(`the test was not stored: ${answer.detail}`);
    return { sends };
  }

  /** Undefined where a platform cannot write its message: the log has the reason. */
  #decided(generation: GenerationView, effects: readonly Effect[], correlationId: string | null): Decided | undefined {
    const { core } = this.#deps;
    const cause = { id: ALERTS_ACTOR, receivedAt: core.clock.now(), attempt: 1, chat: undefined };
    const of = { core, generation, cause, itemId: null, correlationId, actor: ALERTS_ACTOR };
    const decided = writtenEffects(of, effects);
    if (!(decided instanceof Error)) return decided;
    core.log.warn({ err: decided }, 'an alert could not be written for its platform');
    return undefined;
  }
}

/** `since`: the time in its key, see UNSENT-2. */
const sendTo = ({ endpoint, conversation }: Target, text: Rich, since: number): Effect => ({
  kind: 'send',
  key: uuidv7(since).replaceAll('-', ''),
  to: { endpoint, id: conversation },
  content: { text },
  isPrivate: false,
});

const notServed = (): SvcError =>
  new SvcError('endpoint_unavailable', 'no account is served now, so nothing can be sent', {
    hint: '`svc runtime status` says why.',
    details: { retryAfterMs: 2_000 },
  });

const noTarget = (endpoint: string | undefined): SvcError =>
  new SvcError(
    'refused',
    endpoint === undefined ? 'alerts.notify names no target' : `alerts.notify does not name ${endpoint}`,
    {
      hint: 'add it to alerts.notify in svc.config.yml, then svc runtime reload',
    },
  );

/** The worker whose crash is the newest that a start has noted. */
async function lastCrashed(reader: Core['reader']): Promise<string | undefined> {
  const starts = await readStarts(reader, STARTS_LOOKED_AT);
  const after = starts.findIndex(({ previous_end: end }) => end === 'crashed');
  return after === -1 ? undefined : starts[after + 1]?.runtime_id;
}
