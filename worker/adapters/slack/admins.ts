// Administrators of the workspace. Slack has no event for them, so `users.info` is asked and its answer kept for ten minutes.
// A person is looked up only if an arrival of that person wants something of the bot. Members of other workspaces never count.
//
//   SLACK-ADMINS-1  Arrivals from a socket or the history wait for the answer, at most PATIENCE_MS: Slack reports a failure after 3 s.
//                   After a late answer, arrivals do not wait for FAILED_MS. A delivery over HTTP never waits.
//                   A person without an answer is not an administrator.
//   SLACK-ADMINS-2  After a failed lookup (missing scope, rate limit, no answer) Slack is not asked for a while.
//                   The previous answer stays valid for a day.

import type { Arrival, Link, Segment } from '../../sdk/index.ts';
import { askedWaitMs } from '../../sdk/platform/asked-wait.ts';
import { type Json, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { keepNewest } from '../../sdk/platform/keep-newest.ts';
import { looksLikeCommand } from '../../sdk/text/command-sign.ts';
import { call } from './client.ts';
import type { Account } from './config.ts';

const KEPT_MS = 600_000;
/** Validity of a former answer while Slack cannot be asked. */
const LAST_WORD_MS = 86_400_000;
const FAILED_MS = 60_000;
const MOST_PERSONS = 2_500;
const MOST_AT_ONCE = 32;
const PATIENCE_MS = 1_000;

/** Resolves to true for an administrator, else to false or the time without lookups. Rejects if there was no answer. */
export type AskPerson = (user: string) => Promise<boolean | { readonly restMs: number }>;

interface Person {
  readonly isAdmin: boolean;
  readonly until: number;
  readonly lastUntil: number;
}

export class Admins {
  readonly #known = new Map<string, Person>();
  readonly #asked = new Map<string, Promise<void>>();
  /** Set while the account is connected. */
  #ask: AskPerson | undefined;
  /** No lookups before this time, monotonic ms. */
  #restUntil = 0;
  /** Lookups are late: arrivals do not wait before this time, monotonic ms. */
  #lateUntil = 0;

  open(ask: AskPerson): void {
    this.#ask = ask;
    this.#restUntil = 0;
  }
  close(ask: AskPerson): void {
    if (this.#ask === ask) this.#ask = undefined;
  }

  /** Returns the arrivals with known administrators marked, and starts a lookup for unknown persons. */
  marked(arrivals: readonly Arrival[], now: number): readonly Arrival[] {
    void this.#learn(this.#unknownIn(arrivals, now), now);
    return arrivals.map((arrival) => {
      const known = personAsking(arrival) === undefined ? undefined : this.#known.get(arrival.user.id);
      const isAdmin = known?.isAdmin === true && now < known.lastUntil;
      return isAdmin ? { ...arrival, user: { ...arrival.user, admin: true } } : arrival;
    });
  }

  /** Resolves when the persons of these arrivals are looked up, or after PATIENCE_MS. Never rejects. */
  async prepare(arrivals: readonly Arrival[], now: number): Promise<void> {
    const unknown = this.#unknownIn(arrivals, now);
    const learned = this.#learn(unknown, now);
    if (unknown.length === 0 || now < this.#lateUntil) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        this.#lateUntil = now + FAILED_MS;
        resolve();
      }, PATIENCE_MS);
    });
    await Promise.race([learned, late]);
    clearTimeout(timer);
  }

  #unknownIn(arrivals: readonly Arrival[], now: number): readonly string[] {
    const persons = new Set(arrivals.flatMap((arrival) => personAsking(arrival) ?? []));
    return [...persons].filter((user) => (this.#known.get(user)?.until ?? 0) <= now);
  }

  async #learn(users: readonly string[], now: number): Promise<void> {
    for (let from = 0; from < users.length; from += MOST_AT_ONCE)
      await Promise.all(users.slice(from, from + MOST_AT_ONCE).map((user) => this.#learnOne(user, now)));
  }

  /** At most one lookup for each person at a time. Never rejects. */
  #learnOne(user: string, now: number): Promise<void> {
    const asked = this.#asked.get(user);
    const isResting = now < this.#restUntil || this.#asked.size >= MOST_AT_ONCE;
    if (asked !== undefined || isResting || this.#ask === undefined) return asked ?? Promise.resolve();
    const asking = this.#ask(user)
      .then(
        (told) => {
          if (typeof told === 'boolean') this.#keep(user, told, now);
          else this.#restUntil = now + told.restMs;
        },
        () => {
          this.#restUntil = now + FAILED_MS;
        },
      )
      .finally(() => this.#asked.delete(user));
    this.#asked.set(user, asking);
    return asking;
  }

  #keep(user: string, isAdmin: boolean, now: number): void {
    const person = { isAdmin, until: now + KEPT_MS, lastUntil: now + LAST_WORD_MS };
    keepNewest(this.#known, [user, person], MOST_PERSONS);
  }
}

/** Apps without a user, and Slack itself, are not persons. */
const PERSON = /^[UW][A-Z0-9]+$/;
const SLACK = 'USLACKBOT';

/** The person who wants something of the bot: by a command, a mention, a reply to the bot, a private message or a button. */
function personAsking(arrival: Arrival): string | undefined {
  const { id, self } = arrival.user;
  if (self === true || id === SLACK || !PERSON.test(id)) return undefined;
  if (arrival.kind === 'command' || arrival.kind === 'pressed') return id;
  if (arrival.kind !== 'message') return undefined;
  return arrival.addressed === true || looksLikeCommand(beginningOf(arrival.text)) ? id : undefined;
}

function beginningOf(text: string | readonly Segment[]): string {
  if (typeof text === 'string') return text;
  const [first] = text;
  return first?.kind === 'text' ? first.text : '';
}

const accounts = new WeakMap<object, Admins>();

export function adminsOf(account: object): Admins {
  const known = accounts.get(account) ?? new Admins();
  accounts.set(account, known);
  return known;
}

/** Looks the persons up and marks administrators. Only for arrivals that may wait. */
export async function withAdmins(account: object, arrivals: readonly Arrival[]): Promise<readonly Arrival[]> {
  const admins = adminsOf(account);
  const now = performance.now();
  await admins.prepare(arrivals, now);
  return admins.marked(arrivals, now);
}

/** Accounts that were warned about the missing scope. */
const told = new WeakSet<object>();

/** Lookup through this account of the workspace. A missing scope is logged once an account. */
export function askFor(link: Link<Account>, workspace: string | undefined): AskPerson {
  return async (user) => {
    const answer = await call(link, 'users.info', { user });
    if (answer.kind === 'later') return { restMs: askedWaitMs(answer.afterMs) };
    if (answer.kind === 'ok') return isAdminOf(objectAt(answer.json, 'user'), workspace);
    if (answer.error !== 'missing_scope') return false;
    if (!told.has(link.account))
      link.log.warn({ reason: answer.reason }, 'nobody counts as an administrator: the app may not ask who is one');
    told.add(link.account);
    return { restMs: KEPT_MS };
  };
}

/** In a shared channel a person may administer another workspace, so only members of this workspace count. */
function isAdminOf(user: Json, workspace: string | undefined): boolean {
  const teams: unknown = objectAt(user, 'enterprise_user')['teams'];
  const isOurs =
    workspace?.startsWith('T') === true &&
    (textAt(user, 'team_id') === workspace || (Array.isArray(teams) && teams.includes(workspace)));
  return isOurs && ['is_admin', 'is_owner', 'is_primary_owner'].some((key) => user[key] === true);
}
