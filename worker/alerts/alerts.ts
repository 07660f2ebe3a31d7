// The alerts of this host: each 30 s a sample of the figures, a step of the rules, and one unit of what changed and what is told of it.
//
//   ALERTS-1  Rows, events and the messages that tell of them are one unit. A crash before its commit repeats the step, a crash after it does not.
//   ALERTS-2  State is stored, so `for` goes on over a restart. What fired before and still does is not told again.
//   ALERTS-3  While no generation serves, nothing can be sent: what is to be told waits, and the log has it.
//   ALERTS-4  `look` never rejects. What fails for want of the storage is tried again at the next look, events of the changes included.

import { type Alert, type Alerts as AlertMap, type Change, idOf, step } from '../../shared/alerts/alert-machine.ts';
import { type Evaluated, evaluate, unreadOf } from '../../shared/alerts/evaluate.ts';
import type { History, Sample } from '../../shared/alerts/history.ts';
import type { Severity } from '../../shared/alerts/rule.ts';
import { RULES } from '../../shared/alerts/rules.ts';
import type { HostRule } from '../../shared/alerts/set-rules.ts';
import { tell } from '../../shared/alerts/tell.ts';
import type { AlertTested, UnknownRule } from '../../shared/api/monitoring/alert.ts';
import type { Timer } from '../../shared/time/clock.ts';
import { commitOrThrow } from '../core/core.ts';
import type { Statement, UnitAnswer } from '../database/unit.ts';
import { recordEvents } from '../events/event-history.ts';
import type { NewEvent } from '../events/event-types.ts';
import type { Keep } from '../http/answer/kept-answer.ts';
import { Recent } from '../metrics/recent.ts';
import { changedRows, readAlerts, readSilences, removeEndedSilences, type Silence } from './alert-store.ts';
import type { Target } from './carriers.ts';
import { AlertPost, type Messages, NO_MESSAGES, type PostDeps } from './post.ts';
import { bornAtZero, readSeeds } from './seeds.ts';
import { dropUnsent, isSamePlace, keepUnsent, type Unsent } from './unsent.ts';

export const LOOK_MS = 30_000;
/** What was pending when the process ended has to be true for so long again: it may just be starting. */
const SETTLE_MS = 120_000;

export interface AlertsDeps extends PostDeps {
  readonly figures: () => Promise<Sample>;
  /** When this process began. */
  readonly startedAt: () => number;
  /** Names of rules that a release under way makes true. */
  readonly expected: () => Promise<ReadonlySet<string>>;
  /** Sends of this conversation were ended here: the sender goes on with the next one. */
  readonly dropped: (unsent: Unsent) => void;
}

export class Alerts {
  readonly #deps: AlertsDeps;
  readonly #post: AlertPost;
  readonly #recent = new Recent();
  #stored: AlertMap = new Map();
  #alerts: AlertMap = new Map();
  #silences: readonly Silence[] = [];
  #expected: ReadonlySet<string> = new Set();
  /** Changes whose events are not stored yet. */
  #unrecorded: readonly Change[] = [];
  #unknown: readonly UnknownRule[] = [];
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
    this.#post = new AlertPost(deps);
  }

  /** As of the last look. */
  get alerts(): AlertMap {
    return this.#alerts;
  }
  /** Rules that could not be evaluated at the last look, but for windows that are not covered yet. */
  get unknown(): readonly UnknownRule[] {
    return this.#unknown;
  }
  /** Samples of the last hour. */
  get recent(): History & Pick<Recent, 'names'> {
    return this.#recent;
  }
  get targets(): readonly Target[] {
    return this.#post.targets;
  }
  get silences(): readonly Silence[] {
    return this.#silences;
  }
  activeSilences(): readonly Silence[] {
    const now = this.#deps.core.clock.now();
    return this.#silences.filter(({ until }) => until > now);
  }
  rules(): readonly HostRule[] {
    return this.#post.rules();
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

  /** Names of critical rules of which nobody knows whether they are true. */
  unknownCritical(): readonly string[] {
    return this.rules()
      .filter(({ severity }) => severity === 'critical')
      .map(({ name }) => name)
      .filter((name) => this.lookedAt === undefined || this.#unknown.some((one) => one.name === name));
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

  /** As `look`, unless that was done. */
  firstLook(): Promise<void> {
    return this.look(() => this.lookedAt === undefined);
  }

  async look(isWanted = (): boolean => true): Promise<void> {
    await this.inTurn(async () => {
      if (isWanted()) await this.#look();
    }).catch((error: unknown) => {
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
    return this.inTurn(() => this.#post.test(actor, endpoint, keep));
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
    const [sample, names] = await Promise.all([figures(), expected()]);
    const now = core.clock.now();
    if (this.#recent.times.length === 0) await this.#seed(sample, now);
    this.#note(this.#recent.add(now, sample));
    this.#expected = names;
    this.lookedAt = now;
    const rules = this.rules();
    this.#noteUnknown(rules);
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
    const messages = await this.#post.messages({ ...told, now }, (alert) => this.isSilenced(alert));
    const isHeld = messages.effects.length > 0 && this.#deps.generation() === undefined;
    await (isHeld ? this.#store(stepped.alerts, NO_MESSAGES) : this.#store(told.alerts, messages));
  }

  /** What happened before the first sample. */
  async #seed({ readings: first }: Sample, now: number): Promise<void> {
    const { core, startedAt } = this.#deps;
    const seeds = [...(await readSeeds(core.reader, now)), { at: startedAt(), readings: bornAtZero(first) }];
    for (const { at, readings } of seeds.toSorted((a, b) => a.at - b.at))
      if (at < now && at !== this.#recent.times.at(-1)) this.#recent.add(at, { readings, unread: [] });
  }

  /** One unit. `next` becomes the state if it is stored. */
  async #store(next: AlertMap, messages: Messages): Promise<void> {
    const { core, generation, decide, dropped } = this.#deps;
    const now = core.clock.now();
    const ended = this.#silences.some(({ until }) => until <= now) ? [removeEndedSilences(now)] : [];
    const rows = [...changedRows(this.#stored, next), ...ended];
    if (rows.length === 0 && this.#unrecorded.length === 0) return;
    const view = generation();
    const decided = view === undefined ? undefined : this.#post.writable(view, messages);
    const gone = messages.replaced.filter((one) => decided?.rows.some((row) => isSamePlace(row, one)));
    const drops = gone.map((one) => dropUnsent(one, core));
    const statements = [
      ...rows,
      ...(isSetBack(this.#stored, next) ? [keepUnsent()] : []),
      ...drops.map(({ statement }) => statement),
      ...(decided?.statements ?? []),
      ...recordEvents([
        ...this.#unrecorded.map((change) => this.#eventOf(change)),
        ...drops.flatMap(({ events }) => events),
      ]),
    ];
    const commit = (): Promise<UnitAnswer> =>
      core.writer.commit({ name: 'alerts.looked', fence: core.fence, statements });
    if (FAILPOINTS) await core.point('alerts.fires');
    const answer = await (decided === undefined ? commit() : decide(decided, commit));
    if (answer.kind === 'refused') throw new Error(`the alerts were not stored: ${answer.detail}`);
    if (FAILPOINTS) await core.point('alerts.told');
    this.#stored = next;
    this.#alerts = next;
    this.#unrecorded = [];
    for (const one of gone) dropped(one);
    if (ended.length > 0) this.#silences = await readSilences(core.reader);
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

  #noteUnknown(rules: readonly HostRule[]): void {
    const { log } = this.#deps.core;
    const hadUnknown = this.#unknown.length > 0;
    this.#unknown = rules.flatMap((rule) => {
      const figures = unreadOf(rule, this.#recent);
      return figures.length === 0 ? [] : [{ name: rule.name, figures: [...figures] }];
    });
    const figures = [...new Set(this.#unknown.flatMap((one) => one.figures))];
    if (figures.length > 0 && !hadUnknown)
      log.warn({ figures }, 'figures could not be read: their alerts stay as they are, and are unknown');
    if (figures.length === 0 && hadUnknown) log.info({}, 'the figures of all alerts can be read again');
  }

  #note(leftOut: number): void {
    if (leftOut > 0 && !this.#isFull)
      this.#deps.core.log.warn({ leftOut }, 'too many accounts: alerts do not see the figures of all of them');
    this.#isFull = leftOut > 0;
  }
}

/** The clock was set back, and the time of a telling with it. */
const isSetBack = (stored: AlertMap, next: AlertMap): boolean =>
  [...next].some(([id, { toldAt }]) => (toldAt ?? 0) < (stored.get(id)?.toldAt ?? 0));

const hasAccounts = (name: string): boolean =>
  RULES.find((rule) => rule.name === name)?.labels.includes('endpoint') === true;
