// What was said on each platform, what the platform was told of it and what the bot said to it, with the life of the host in which it did:
// kept outside the process that is killed.
import { tokenOfMore } from './extras.ts';
import type { Delivered, Line, Platform } from './platform.ts';

/** One time that a message of the bot shows. */
export interface Showing {
  readonly life: number;
}

export interface Answer extends Showing {
  /** How many of its conversation the bot has handled, as its stored state says. */
  readonly number: number;
}

export interface More extends Showing {
  readonly text: string;
}

export interface Said extends Line {
  readonly saidIn: number;
  deliveredIn: number;
  fate: Delivered | 'open';
  /** Order of the acknowledgements of the whole run. */
  endedAs: number;
  /** Acknowledgements that there were when it was said. */
  readonly begunAs: number;
  readonly answers: Answer[];
  /** Further messages about it: parts of the answer behind the first, its file, and what was said to a press. */
  readonly more: More[];
  /** What became of the press of its button. */
  press?: Delivered | 'open';
}

const LIVES_WAITED_FOR = 3;

export class Ledger {
  readonly platform: Platform;
  readonly lines = new Map<string, Said>();
  readonly faults: string[] = [];
  /** Called after each delivery, and after each answer. */
  onDelivered: () => void = () => {};
  onAnswer: () => void = () => {};
  #ended = 0;
  #read = 0;
  #answered = 0;
  #answersEver = 0;
  readonly #unanswered = new Set<Said>();

  constructor(platform: Platform) {
    this.platform = platform;
  }

  say(line: Line, life: number): Said {
    const said: Said = {
      ...line,
      saidIn: life,
      deliveredIn: life,
      fate: 'open',
      begunAs: this.#ended,
      endedAs: -1,
      answers: [],
      more: [],
    };
    this.lines.set(line.token, said);
    this.#unanswered.add(said);
    return said;
  }

  end(said: Said, fate: Delivered, life: number): void {
    said.fate = fate;
    said.deliveredIn = life;
    said.endedAs = this.#ended += 1;
    this.onDelivered();
  }

  /** Takes in what the bot has said since. */
  read(texts: (from: number) => readonly string[], life: number): void {
    const fresh = texts(this.#read);
    this.#read += fresh.length;
    for (const text of fresh) this.#take(text, { life });
  }

  #take(text: string, when: Showing): void {
    const [, token = '', number] = /(T[0-9a-z]+X) n(\d+)/.exec(text) ?? [];
    const more = number === undefined ? tokenOfMore(text) : undefined;
    const said = this.lines.get(more ?? token);
    if (said !== undefined && more !== undefined) {
      said.more.push({ text, ...when });
      this.#answersEver += 1;
      return this.onAnswer();
    }
    if (said === undefined) return void this.faults.push(`"${text.slice(0, 80)}" answers nothing that was said`);
    this.#answersEver += 1;
    if (said.answers.length === 0) this.#answered += 1;
    said.answers.push({ number: Number(number), ...when });
    this.#unanswered.delete(said);
    this.onAnswer();
  }

  get said(): number {
    return this.lines.size;
  }
  /** Acknowledged, or written where there are no acknowledgements. */
  get delivered(): number {
    return this.#ended;
  }
  get answered(): number {
    return this.#answered;
  }
  get answersEver(): number {
    return this.#answersEver;
  }

  /**
   * Answers that are due now. What was said some lives ago and has none may never get one: nobody waits for it with what is to be said
   * next. What was only written in an earlier life need not have arrived.
   */
  owed(life: number): number {
    let owed = 0;
    for (const { fate, saidIn, deliveredIn } of this.#unanswered)
      if (fate === 'written' ? deliveredIn === life : saidIn > life - LIVES_WAITED_FOR) owed += 1;
    return owed;
  }

  /** Acknowledged, or kept, and not answered. */
  unanswered(): readonly Said[] {
    return [...this.#unanswered].filter(({ fate }) => fate === 'acknowledged' || fate === 'kept');
  }
}
