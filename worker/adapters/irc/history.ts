// Fetches messages that were missed while the account was offline, if the server keeps them (IRCv3 draft/chathistory). Computes the cursor.
//
//   IRC-HISTORY-1  Asked once a connection, after the joins: for joined channels and for people who wrote in private. The range begins shortly before
//                  the cursor, at most two days back. A line has its original msgid, so the inbox drops duplicates. A line without a msgid counts if
//                  it is newer than the cursor. Private senders are listed page by page, by the time of their latest line.
//   IRC-HISTORY-2  New messages wait until the missed ones are stored. If an answer takes too long or too many wait, they are stored at once.
//   IRC-HISTORY-3  The cursor is the server time of the newest stored line. The cursor does not move until all missed messages are stored.
//   IRC-HISTORY-4  A question that failed temporarily (MESSAGE_ERROR) or got no answer is repeated while the connection lasts. The repetition delays
//                  nothing else. Until it is answered the account is `degraded`. A target that the server denies is skipped. A late answer to an
//                  earlier question is ignored, since the repeated question gets all of it. A refusal of another question is ignored, too.
//   IRC-HISTORY-5  In history the bot's own lines may have another nick. Each nick that the account may use counts as the bot's.
//   IRC-HISTORY-6  Messages beyond the page limit are lost. The account is `degraded` until the rest has arrived, so that its last error shows the
//                  loss.
import { createHash } from 'node:crypto';
import type { IrcLine } from 'irc-framework';
import type { Arrival, Logger } from '../../sdk/index.ts';
import type { Account } from './config.ts';
import { ownNicks } from './connection/nick.ts';

export interface HistoryOptions {
  readonly account: Account;
  readonly cursor: string | undefined;
  readonly log: Logger;
  /** Time limit for one answer, in ms. */
  readonly limitMs: number;
  lower(text: string): string;
  raw(line: string): void;
  after(delayMs: number, run: () => void): void;
  /** Adds an event to the inbox queue. */
  push(arrival: Arrival): void;
  /** Stores the cursor when no event arrives with which to store it. */
  note(cursor: string): void;
  /** Reports missed messages that could not be fetched. Undefined once all are fetched. */
  trouble(reason: string | undefined): void;
}

export const CAPABILITY = 'draft/chathistory';

const OVERLAP_MS = 30_000;
const MOST_BACK_MS = 2 * 86_400_000;
const AHEAD_MS = 60_000;
const PAGE = 100;
const MOST_PAGES = 10;
const MOST_TARGETS = 100;
const MOST_HELD = 500;
/** Refusals that name the target. */
const NAMES_TARGET: ReadonlySet<string> = new Set(['INVALID_TARGET', 'MESSAGE_ERROR']);

interface Question {
  /** Undefined: the question asks who wrote in private. */
  readonly target: string | undefined;
  readonly from: string;
  readonly page: number;
  /** How often this question, or one for a page before it, got no answer in time. That many late answers may still arrive, and must not count. */
  readonly late: number;
}

interface Batch {
  /** The question that this batch answers. Undefined: no current question. */
  readonly question: Question | undefined;
  lines: number;
  /** Reference to the last line, to ask for the next page. */
  last: string | undefined;
}

export class History {
  readonly #options: HistoryOptions;
  readonly #since: number | undefined;
  readonly #batches = new Map<string, Batch>();
  /** Server times of new (not historical) lines. */
  readonly #times = new WeakMap<Arrival, number>();
  #questions: Question[] = [];
  /** Questions to repeat later, because they failed temporarily or got no answer. */
  #again: Question[] = [];
  /** New messages that wait until missed ones are stored. Undefined when none have to wait. */
  #held: Arrival[] | undefined;
  #isBehind: boolean;
  #asked = 0;
  #page = PAGE;
  #newest = 0;
  #isById = true;
  /** People who wrote in private and were asked about already. */
  readonly #wrote = new Set<string>();

  constructor(options: HistoryOptions) {
    this.#options = options;
    const since = Date.parse(options.cursor ?? '');
    this.#since = Number.isFinite(since) ? since : undefined;
    this.#isBehind = this.#since !== undefined;
    if (this.#isBehind) this.#held = [];
  }

  /**
   * Asks for messages since the cursor. `most`: lines that the server allows in one answer, undefined if it keeps no history.
   * `refs`: kinds of reference that the server accepts in a question. Both kinds are assumed if it does not say.
   */
  ask(channels: readonly string[], most: number | undefined, refs = 'msgid,timestamp'): void {
    if (this.#since === undefined) {
      if (this.#newest > 0) this.#options.note(new Date(this.#newest).toISOString());
      return;
    }
    if (most === undefined) return this.#finish();
    this.#page = most > 0 ? Math.min(most, PAGE) : PAGE;
    this.#isById = refs.split(',').includes('msgid');
    const from = `timestamp=${new Date(this.#from).toISOString()}`;
    this.#questions = [...channels, undefined].map((target) => ({ target, from, page: 1, late: 0 }));
    this.#next();
  }

  /** Handles a line: answers of the history, and events, both missed and new. */
  take(line: IrcLine, arrival: Arrival | undefined): void {
    const batch = this.#batches.get(line.tags['batch'] ?? '');
    if (line.command === 'BATCH') return this.#onBatch(line, batch);
    if (line.command === 'FAIL' && line.params[0] === 'CHATHISTORY') return this.#refused(line);
    const at = Date.parse(line.tags['time'] ?? '');
    if (batch === undefined) {
      if (Number.isFinite(at)) this.#newest = Math.max(this.#newest, at);
      if (arrival !== undefined) this.#now(arrival, at);
      return;
    }
    if (line.command === 'CHATHISTORY') return this.#targeted(line, batch);
    if (line.tags['draft/chathistory-context'] === undefined) batch.lines += 1;
    const { msgid } = line.tags;
    batch.last = this.#isById && msgid !== undefined ? `msgid=${msgid}` : justBefore(at);
    if (arrival !== undefined) this.#past(line, arrival, at);
  }

  /** The cursor after these events were stored. Undefined while missed messages are outstanding. */
  cursorAfter(stored: readonly Arrival[]): string | undefined {
    if (this.#isBehind) return undefined;
    const newest = Math.max(...stored.map((one) => this.#times.get(one) ?? 0));
    return newest > 0 ? new Date(newest).toISOString() : undefined;
  }

  /** The connection ended. New messages that waited are passed on. The next connection repeats unanswered questions. */
  end(): void {
    this.#questions = [];
    this.#again = [];
    this.#release();
  }

  get #from(): number {
    return Math.max((this.#since ?? 0) - OVERLAP_MS, Date.now() - MOST_BACK_MS);
  }

  #now(arrival: Arrival, at: number): void {
    if (Number.isFinite(at)) this.#times.set(arrival, at);
    if (this.#held === undefined) return this.#options.push(arrival);
    this.#held.push(arrival);
    if (this.#held.length > MOST_HELD) this.#release(); // too many new messages wait
  }

  /** Passes on a missed message, unless one of our own nicks wrote it. A message without a msgid gets an id from its content. */
  #past(line: IrcLine, arrival: Arrival, at: number): void {
    const { account, lower, push } = this.#options;
    const nick = lower(line.nick);
    if (ownNicks(account).some((own) => lower(own) === nick)) return;
    if (line.tags['msgid'] !== undefined) return push(arrival);
    if (!(at > (this.#since ?? 0))) return;
    const text = [line.tags['time'], nick, ...line.params].join('\n');
    const id = `past/${createHash('sha256').update(text).digest('base64url').slice(0, 27)}`;
    push({ ...arrival, id, ...(arrival.kind === 'message' ? { message: id } : {}) });
  }

  #onBatch({ params: [ref = '', type = '', of = ''], tags }: IrcLine, around: Batch | undefined): void {
    const name = ref.slice(1);
    if (ref.startsWith('+')) {
      if (around !== undefined) this.#batches.set(name, around);
      else if (type === 'chathistory' || type === 'draft/chathistory-targets')
        this.#batches.set(name, { question: this.#asks(type === 'chathistory' ? of : ''), lines: 0, last: undefined });
      return;
    }
    const ended = this.#batches.get(name);
    this.#batches.delete(name);
    if (ended !== undefined && tags['batch'] === undefined) this.#answered(ended);
  }

  /** The current question if it is about this target. An empty target means the list of private senders. */
  #asks(of: string): Question | undefined {
    const [asked] = this.#questions;
    const { lower } = this.#options;
    return asked !== undefined && lower(asked.target ?? '') === lower(of) ? asked : undefined;
  }

  #answered({ question, lines, last }: Batch): void {
    const [asked, ...others] = this.#questions;
    if (asked === undefined || asked !== question) return;
    const { target, page, late } = asked;
    if (late > 0 && last === asked.from) {
      // A late answer repeated the page before.
      this.#questions = [{ ...asked, late: late - 1 }, ...others];
      return;
    }
    const isFull = lines >= this.#page && last !== undefined;
    const isMore = isFull && last !== asked.from && page < MOST_PAGES;
    if (isFull && !isMore) this.#lost(target);
    const next = isMore ? [{ target, from: last, page: page + 1, late }] : [];
    // Messages of known senders are fetched before the next page of senders.
    this.#questions = target === undefined ? [...others, ...next] : [...next, ...others];
    this.#next();
  }

  /** Handles a refusal. A temporary one is repeated later, any other is skipped. */
  #refused({ params }: IrcLine): void {
    const [question, ...others] = this.#questions;
    if (question === undefined || !this.#isAbout(question, params)) return;
    const isPassing = params[1] === 'MESSAGE_ERROR';
    this.#options.log.debug({ reason: params.slice(1), isPassing }, 'the history is not to be read');
    if (isPassing) this.#again.push(question);
    this.#questions = others;
    this.#next();
  }

  /** True unless the refusal names another question or target. */
  #isAbout({ target }: Question, [, code = '', ...words]: readonly string[]): boolean {
    const [asked, of] = words.slice(0, -1); // the last parameter is a text for people
    if (asked !== undefined && asked.toUpperCase() !== (target === undefined ? 'TARGETS' : 'AFTER')) return false;
    if (target === undefined || of === undefined || !NAMES_TARGET.has(code)) return true;
    return this.#options.lower(of) === this.#options.lower(target);
  }

  /** Adds a question for a person who wrote in private. Channels have questions already. */
  #targeted({ params: [, name = '', time = ''] }: IrcLine, batch: Batch): void {
    if (batch.question === undefined || batch.question !== this.#questions[0]) return;
    batch.lines += 1;
    const last = justBefore(Date.parse(time));
    if (last !== undefined && last > (batch.last ?? '')) batch.last = last;
    if (!/^[^\s:#&+!,][^\s,]*$/.test(name) || this.#questions.length > MOST_TARGETS || this.#wrote.has(name)) return;
    this.#wrote.add(name);
    this.#questions.push({ target: name, from: `timestamp=${new Date(this.#from).toISOString()}`, page: 1, late: 0 });
  }

  #next(): void {
    const [question] = this.#questions;
    if (question === undefined) return this.#finish();
    const { target, from } = question;
    const until = `timestamp=${new Date(Date.now() + AHEAD_MS).toISOString()}`;
    const what = target === undefined ? `TARGETS ${from} ${until}` : `AFTER ${target} ${from}`;
    this.#options.raw(`CHATHISTORY ${what} ${this.#page}`);
    this.#asked += 1;
    const asked = this.#asked;
    this.#options.after(this.#options.limitMs, () => {
      if (asked === this.#asked && this.#questions.length > 0) this.#unanswered();
    });
  }

  #finish(reason = 'the server could not read it for now'): void {
    this.#isBehind = this.#again.length > 0;
    this.#release();
    this.#options.trouble(
      this.#isBehind ? `what was said while the account was away has not come: ${reason}` : undefined,
    );
    if (!this.#isBehind) return;
    this.#options.after(this.#options.limitMs, () => {
      this.#questions = this.#again;
      this.#again = [];
      this.#next();
    });
  }

  /** Repeats unanswered questions later. The cursor does not move, so the next connection would ask again, too. */
  #unanswered(): void {
    this.#options.log.warn({ questions: this.#questions.length }, 'the server did not answer what was said meanwhile');
    const [asked, ...others] = this.#questions;
    if (asked !== undefined) this.#again.push({ ...asked, late: asked.late + 1 }, ...others);
    this.#questions = [];
    this.#finish('the server did not answer');
  }

  /** Reports that a target has more missed messages than are fetched. */
  #lost(target = 'in private, of people'): void {
    this.#options.log.warn({ target }, 'more was said there than is caught up with');
    this.#options.trouble(`more was said while the account was away than is asked for: ${target}`);
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const arrival of held) this.#options.push(arrival);
  }
}

/** Lines of the same millisecond may be split between two pages, so the next page begins just before it. */
const justBefore = (at: number): string | undefined =>
  Number.isFinite(at) ? `timestamp=${new Date(at - 1).toISOString()}` : undefined;
