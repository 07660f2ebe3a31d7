// What was said while the account was away, where the server keeps it (IRCv3 draft/chathistory), and how far all has come.
//
//   H1  Asked once a connection, behind the joins: for the channels that are joined and for who wrote in private, from the cursor on, with some
//       overlap, two days back at most. A line has the msgid with which it was said, so that what came already is taken once. One without a
//       msgid is taken when it is newer than the cursor.
//       Who wrote is told a page at a time, by the time of their latest line.
//   H2  What is said meanwhile waits behind it, until an answer takes too long or too much waits: then it is let in beside what was missed.
//   H3  The cursor is the server's time of the newest line that is stored. It stands still until what was missed has come.
//   H4  What the server could not read for now (MESSAGE_ERROR), or did not answer, is asked for again while the connection stands, and holds
//       nothing up. Until it has come the account is degraded. Whom it will not tell at all is left.
//       An answer that begins while its question is not asked, or began before it was asked again, is none: the new one tells all of it. Nor
//       is a refusal of another question one of this.
//   H5  Where a server tells again what was said, asked or not, our own lines may bear another nick: each that the account would take is ours.
//   H6  What is more than is asked for is lost: the account is degraded for it until the rest has come, so that its last error tells of it.
import { createHash } from 'node:crypto';
import type { IrcLine } from 'irc-framework';
import type { Arrival, Logger } from '../../sdk/index.ts';
import type { Account } from './config.ts';
import { ownNicks } from './connection/nick.ts';

export interface HistoryOptions {
  readonly account: Account;
  readonly cursor: string | undefined;
  readonly log: Logger;
  /** For one answer. */
  readonly limitMs: number;
  lower(text: string): string;
  raw(line: string): void;
  after(delayMs: number, run: () => void): void;
  /** Into the inbox, in this order. */
  push(arrival: Arrival): void;
  /** Stores how far all has come, where nothing arrives. */
  note(cursor: string): void;
  /** What is not there of what was missed; undefined once nothing is left to ask for. */
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
/** Refusals that say of whom. */
const NAMES_TARGET: ReadonlySet<string> = new Set(['INVALID_TARGET', 'MESSAGE_ERROR']);

interface Question {
  /** Undefined: who wrote. */
  readonly target: string | undefined;
  readonly from: string;
  readonly page: number;
  /** How often it, or a page before it, was asked and not answered: so many answers may come behind the one that is taken (H4). */
  readonly late: number;
}

interface Batch {
  /** What it answers; undefined: nothing that is asked now. */
  readonly question: Question | undefined;
  lines: number;
  /** To ask for what comes behind its last line. */
  last: string | undefined;
}

export class History {
  readonly #options: HistoryOptions;
  readonly #since: number | undefined;
  readonly #batches = new Map<string, Batch>();
  /** The server's times of lines that are said now. */
  readonly #times = new WeakMap<Arrival, number>();
  #questions: Question[] = [];
  /** H4. */
  #again: Question[] = [];
  /** What is said before all that was missed has come (H2). */
  #held: Arrival[] | undefined;
  #isBehind: boolean;
  #asked = 0;
  #page = PAGE;
  #newest = 0;
  #isById = true;
  /** In private. */
  readonly #wrote = new Set<string>();

  constructor(options: HistoryOptions) {
    this.#options = options;
    const since = Date.parse(options.cursor ?? '');
    this.#since = Number.isFinite(since) ? since : undefined;
    this.#isBehind = this.#since !== undefined;
    if (this.#isBehind) this.#held = [];
  }

  /**
   * H1. `most` is what the server allows in one answer; undefined where it keeps nothing. `refs`: by what a line is named in a question, both
   * where the server does not say.
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

  /** What a line says of answers, and where its arrival goes. */
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

  /** What was stored, in its order → how far all has come (H3). */
  cursorAfter(stored: readonly Arrival[]): string | undefined {
    if (this.#isBehind) return undefined;
    const newest = Math.max(...stored.map((one) => this.#times.get(one) ?? 0));
    return newest > 0 ? new Date(newest).toISOString() : undefined;
  }

  /** The connection is gone: what waits is stored, and asked for again is what was not answered. */
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
    if (this.#held.length > MOST_HELD) this.#release(); // H2
  }

  /** H1, H5. */
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

  /** Of whom; nobody: who wrote. */
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
      // The page before once more.
      this.#questions = [{ ...asked, late: late - 1 }, ...others];
      return;
    }
    const isFull = lines >= this.#page && last !== undefined;
    const isMore = isFull && last !== asked.from && page < MOST_PAGES;
    if (isFull && !isMore) this.#lost(target);
    const next = isMore ? [{ target, from: last, page: page + 1, late }] : [];
    // Who has written is heard before it is asked who else has.
    this.#questions = target === undefined ? [...others, ...next] : [...next, ...others];
    this.#next();
  }

  /** H4. */
  #refused({ params }: IrcLine): void {
    const [question, ...others] = this.#questions;
    if (question === undefined || !this.#isAbout(question, params)) return;
    const isPassing = params[1] === 'MESSAGE_ERROR';
    this.#options.log.debug({ reason: params.slice(1), isPassing }, 'the history is not to be read');
    if (isPassing) this.#again.push(question);
    this.#questions = others;
    this.#next();
  }

  /** As far as a refusal names what it is about: the question, and of whom. */
  #isAbout({ target }: Question, [, code = '', ...words]: readonly string[]): boolean {
    const [asked, of] = words.slice(0, -1); // the last one is for people
    if (asked !== undefined && asked.toUpperCase() !== (target === undefined ? 'TARGETS' : 'AFTER')) return false;
    if (target === undefined || of === undefined || !NAMES_TARGET.has(code)) return true;
    return this.#options.lower(of) === this.#options.lower(target);
  }

  /** Who wrote in private: the channels are known. */
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

  /** H4. The cursor stands: should the connection end before, the next one asks again. */
  #unanswered(): void {
    this.#options.log.warn({ questions: this.#questions.length }, 'the server did not answer what was said meanwhile');
    const [asked, ...others] = this.#questions;
    if (asked !== undefined) this.#again.push({ ...asked, late: asked.late + 1 }, ...others);
    this.#questions = [];
    this.#finish('the server did not answer');
  }

  /** H6. */
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

/** Of the lines of one moment, some may stand behind the end of a page. */
const justBefore = (at: number): string | undefined =>
  Number.isFinite(at) ? `timestamp=${new Date(at - 1).toISOString()}` : undefined;
