// The alerts of this host: each 30 s a sample of the figures, a step of the rules, and one unit of what changed and what is told of it.
//
//   ALERTS-1  Rows, events and the messages that tell of them are one unit. A crash before its commit repeats the step, a crash after it does not.
//   ALERTS-2  State is stored, so `for` goes on over a restart. What fired before and still does is not told again.
//   ALERTS-3  While no generation serves, nothing can be sent: what is to be told waits, and the log has it.
//   ALERTS-4  `look` never rejects. What fails for want of the storage is tried again at the next look, events of the changes included.

import { type Alert, type Alerts as AlertMap, type Change, idOf, step } from '../../shared/alerts/alert-machine.ts';
import { type Evaluated, evaluate } from '../../shared/alerts/evaluate.ts';
import type { Reading } from '../../shared/alerts/history.ts';
import type { Severity } from '../../shared/alerts/rule.ts';
import { RULES } from '../../shared/alerts/rules.ts';
import { type HostRule, hostRules } from '../../shared/alerts/set-rules.ts';
import { tell } from '../../shared/alerts/tell.ts';
import type { AlertTested } from '../../shared/api/monitoring/alert.ts';
import type { Config } from '../../shared/config/load.ts';
import { uuidv7 } from '../../shared/identifiers.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Timer } from '../../shared/time/clock.ts';
import { ALERTS_ACTOR } from '../core/actors.ts';
import { type Core, commitOrThrow } from '../core/core.ts';
import { readStarts } from '../database/starts-ledger.ts';
import type { Statement, UnitAnswer } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import { type Decided, writtenEffects } from '../handling/effects/effects.ts';
import type { GenerationView } from '../handling/plan/generation-view.ts';
import type { Effect } from '../handling/run/run.ts';
import type { Keep } from '../http/answer/kept-answer.ts';
import { Recent } from '../metrics/recent.ts';
import type { Rich } from '../sdk/index.ts';
import { changedRows, readAlerts, readSilences, removeEndedSilences, type Silence } from './alert-store.ts';
import { type Carried, carriersOf, type Target } from './carriers.ts';
import { messageOf, testMessage } from './message.ts';
import { bornAtZero, readSeeds } from './seeds.ts';

export const LOOK_MS = 30_000;
/** What was pending when the process ended has to be true for so long again: it may just be starting. */
const SETTLE_MS = 120_000;

const STARTS_LOOKED_AT = 20;

export interface AlertsDeps {
  readonly core: Core;
  readonly config: () => Config;
  /** The host's name without secrets. */
  readonly project: () => string;
  readonly figures: () => Promise<readonly Reading[]>;
  /** When this process began. */
  readonly startedAt: () => number;
  /** Names of rules that a release under way makes true. */
  readonly expected: () => Promise<ReadonlySet<string>>;
  readonly generation: () => GenerationView | undefined;
  /** True for an account that an operator has disabled. */
  readonly isDisabled: (endpoint: string) => boolean;
  readonly decide: (decided: Decided, commit: () => Promise<UnitAnswer>) => Promise<UnitAnswer>;
}

export class Alerts {
  readonly #deps: AlertsDeps;
  readonly #recent = new Recent();
  #stored: AlertMap = new Map();
  #alerts: AlertMap = new Map();
  #silences: readonly Silence[] = [];
  #expected: ReadonlySet<string> = new Set();
  /** Changes whose events are not stored yet. */
  #unrecorded: readonly Change[] = [];
  #loading: Promise<void> | undefined;
  /** On the monotonic clock. */
  #settledAt = 0;
  #timer: Timer | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #isStopped = false;
  #isFull = false;
  #underWay = 0;
  /** Time of the last look. */
  lookedAt: number | undefined;

  constructor(deps: AlertsDeps) {
    this.#deps = deps;
  }

  /** As of the last look. */
  get alerts(): AlertMap {
    return this.#alerts;
  }
  get silences(): readonly Silence[] {
    return this.#silences;
  }
  activeSilences(): readonly Silence[] {
    const now = this.#deps.core.clock.now();
    return this.#silences.filter(({ until }) => until > now);
  }
  rules(): readonly HostRule[] {
    return hostRules(this.#deps.config().alerts.rules);
  }

  /** Those that fire, told or not. */
  firing(): Readonly<Record<Severity, number>> {
    const firing = [...this.#alerts.values()].filter(({ phase }) => phase === 'firing');
    const countOf = (wanted: Severity): number => firing.filter(({ severity }) => severity === wanted).length;
    return { critical: countOf('critical'), warning: countOf('warning') };
  }

  /** Names of those that fire and are critical, told or not, once each. */
  critical(): readonly string[] {
    const firing = [...this.#alerts.values()].filter(
      ({ phase, severity }) => phase === 'firing' && severity === 'critical',
    );
    return [...new Set(firing.map(({ name }) => name))].toSorted();
  }

  /** Looks now, and each 30 s from then on. */
  start(): void {
    void this.look().finally(() => {
      if (!this.#isStopped)
        this.#timer = this.#deps.core.clock.after(LOOK_MS, () => this.start(), { background: true });
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#turn;
  }

  /** The key of an alert. Where it is an account, that may be given by its short name. */
  fullKey({ name, key = '' }: { readonly name: string; readonly key?: string | undefined }): string {
    return key !== '' && hasAccounts(name) ? (this.#deps.generation()?.endpoint(key) ?? key) : key;
  }

  /** False where the key is an account that the serving generation does not have. */
  isKnownKey({ name, key }: Pick<Alert, 'name' | 'key'>): boolean {
    const generation = this.#deps.generation();
    if (generation === undefined || !hasAccounts(name) || this.#alerts.has(idOf({ name, key }))) return true;
    return generation.can(key) !== undefined;
  }

  isSilenced({ name, key }: Pick<Alert, 'name' | 'key'>): boolean {
    const now = this.#deps.core.clock.now();
    const hits = (one: Silence): boolean => one.name === name && (one.key === '' || one.key === key) && one.until > now;
    return this.#expected.has(name) || this.#silences.some(hits);
  }

  /** Reads what is stored. Throws what the storage throws. */
  load(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async look(): Promise<void> {
    await this.inTurn(() => this.#look()).catch((error: unknown) => {
      this.#deps.core.log.warn({ err: error }, 'alerts could not be looked at: tried again in 30 s');
    });
  }

  /** True while neither a look nor a change is under way. */
  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  /** Looks and changes run one after the other. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#underWay += 1;
    const turn = this.#turn
      .then(async () => {
        await this.load();
        return work();
      })
      .finally(() => {
        this.#underWay -= 1;
      });
    this.#turn = turn.catch(() => {}); // the caller gets the error
    return turn;
  }

  /** Stores a change of silences, and reads them anew. */
  async change(name: string, statements: readonly Statement[]): Promise<void> {
    const { core } = this.#deps;
    await commitOrThrow(core.writer, { name, statements });
    this.#silences = await readSilences(core.reader);
  }

  /** Puts a test message into the outbox for each target, or for those of one account. */
  test(actor: string, endpoint: string | undefined, keep: Keep<AlertTested>): Promise<AlertTested> {
    return this.inTurn(async () => {
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
      );
      if (decided === undefined)
        throw new SvcError('refused', 'the test message could not be written: the log says why');
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
    });
  }

  async #load(): Promise<void> {
    const { core } = this.#deps;
    this.#stored = await readAlerts(core.reader);
    this.#alerts = this.#stored;
    this.#silences = await readSilences(core.reader);
    this.#settledAt = core.clock.monotonic() + SETTLE_MS;
  }

  async #look(): Promise<void> {
    const { core, figures, expected, config } = this.#deps;
    const [readings, names] = await Promise.all([figures(), expected()]);
    const now = core.clock.now();
    if (this.#recent.times.length === 0) await this.#seed(readings, now);
    this.#note(this.#recent.add(now, readings));
    this.#expected = names;
    this.lookedAt = now;
    const rules = this.rules();
    const evaluated = new Map<string, Evaluated>(rules.map((rule) => [rule.name, evaluate(rule, this.#recent)]));
    const notBefore = now + Math.max(0, this.#settledAt - core.clock.monotonic());
    const stepped = step(this.#alerts, { now, rules, evaluated, notBefore });
    this.#alerts = stepped.alerts; // also if nothing can be stored: `for` goes on
    for (const change of stepped.changes) this.#log(change);
    this.#unrecorded = [...this.#unrecorded, ...stepped.changes];
    const told = tell(stepped.alerts, {
      now,
      rules,
      isSilenced: (alert) => this.isSilenced(alert),
      repeatMs: config().alerts.repeatHours * 3_600_000,
    });
    const carried = carriersOf(told.tellings, this.targets);
    const messages = await this.#messages(carried, now);
    if (carried.length > 0 && this.#deps.generation() === undefined) await this.#store(stepped.alerts, []);
    else await this.#store(told.alerts, messages);
  }

  /** What happened before the first sample. */
  async #seed(first: readonly Reading[], now: number): Promise<void> {
    const { core, startedAt } = this.#deps;
    const seeds = [...(await readSeeds(core.reader, now)), { at: startedAt(), readings: bornAtZero(first) }];
    for (const { at, readings } of seeds.toSorted((a, b) => a.at - b.at))
      if (at < now && at !== this.#recent.times.at(-1)) this.#recent.add(at, readings);
  }

  /** One unit. `next` becomes the state if it is stored. */
  async #store(next: AlertMap, effects: readonly Effect[]): Promise<void> {
    const { core, generation, decide } = this.#deps;
    const now = core.clock.now();
    const ended = this.#silences.some(({ until }) => until <= now) ? [removeEndedSilences(now)] : [];
    const rows = [...changedRows(this.#stored, next), ...ended];
    if (rows.length === 0 && this.#unrecorded.length === 0) return;
    const events = recordEvents(this.#unrecorded.map((change) => this.#eventOf(change)));
    const view = generation();
    const decided = view === undefined ? undefined : this.#writable(view, effects);
    const statements = [...rows, ...events, ...(decided?.statements ?? [])];
    const commit = (): Promise<UnitAnswer> =>
      core.writer.commit({ name: 'alerts.looked', fence: core.fence, statements });
    if (FAILPOINTS) await core.point('alerts.fires');
    const answer = await (decided === undefined ? commit() : decide(decided, commit));
    if (answer.kind === 'refused') throw new Error(`the alerts were not stored: ${answer.detail}`);
    if (FAILPOINTS) await core.point('alerts.told');
    this.#stored = next;
    this.#alerts = next;
    this.#unrecorded = [];
    if (ended.length > 0) this.#silences = await readSilences(core.reader);
  }

  /** A target whose platform cannot write it gets nothing, and the others get theirs. */
  #writable(generation: GenerationView, effects: readonly Effect[]): Decided | undefined {
    const all = this.#decided(generation, effects);
    if (all !== undefined || effects.length < 2) return all;
    const able = effects.filter((effect) => this.#decided(generation, [effect]) !== undefined);
    return this.#decided(generation, able);
  }

  /** Undefined where a platform cannot write its message: the log has the reason. */
  #decided(generation: GenerationView, effects: readonly Effect[]): Decided | undefined {
    const { core } = this.#deps;
    const cause = { id: ALERTS_ACTOR, receivedAt: core.clock.now(), attempt: 1, chat: undefined };
    const of = { core, generation, cause, itemId: null, correlationId: null, actor: ALERTS_ACTOR };
    const decided = writtenEffects(of, effects);
    if (!(decided instanceof Error)) return decided;
    core.log.warn({ err: decided }, 'an alert could not be written for its platform');
    return undefined;
  }

  get targets(): readonly Target[] {
    const generation = this.#deps.generation();
    return this.#deps.config().alerts.notify.map((target) => {
      const endpoint = generation?.endpoint(target.endpoint) ?? target.endpoint;
      return { ...target, endpoint, isDisabled: this.#deps.isDisabled(endpoint) };
    });
  }

  async #messages(carried: readonly Carried[], now: number): Promise<readonly Effect[]> {
    const { core, project } = this.#deps;
    const isCrash = carried.some(({ tellings }) => tellings.some(({ alert }) => alert.name.startsWith('SvcCrash')));
    const of = {
      project: project(),
      runtimeId: core.runtimeId,
      crashed: isCrash ? await lastCrashed(core.reader) : undefined,
      rules: new Map(this.rules().map((rule) => [rule.name, rule])),
    };
    return carried.map(({ target, tellings }) => sendTo(target, messageOf(tellings, of), now));
  }

  #eventOf({ kind, alert }: Change): NewEvent {
    const { core, generation } = this.#deps;
    const { name, key, severity, since, labels } = alert;
    const head = {
      at: core.clock.now(),
      runtimeId: core.runtimeId,
      generation: generation()?.number,
      subject: idOf(alert),
      endpoint: labels['endpoint'],
    };
    return kind === 'fired'
      ? { ...head, type: 'alert.fired', data: { alert: name, key, severity, since } }
      : { ...head, type: 'alert.resolved', data: { alert: name, key, severity, since } };
  }

  /** No line is an error: lines of alerts count in no rule. */
  #log({ kind, alert }: Change): void {
    const { log } = this.#deps.core;
    const { name, key, severity, value, labels } = alert;
    const fields = { alert: name, ...(key === '' ? {} : labels), severity };
    if (kind === 'resolved') log.info(fields, 'alert resolved');
    else log.warn({ ...fields, value }, `alert fires: svc alerts`);
  }

  #note(leftOut: number): void {
    if (leftOut > 0 && !this.#isFull)
      this.#deps.core.log.warn({ leftOut }, 'too many accounts: alerts do not see the figures of all of them');
    this.#isFull = leftOut > 0;
  }
}

const hasAccounts = (name: string): boolean =>
  RULES.find((rule) => rule.name === name)?.labels.includes('endpoint') === true;

const sendTo = ({ endpoint, conversation }: Target, text: Rich, now: number): Effect => ({
  kind: 'send',
  key: uuidv7(now).replaceAll('-', ''),
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
