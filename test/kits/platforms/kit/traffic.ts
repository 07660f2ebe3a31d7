// Load on every platform at once: in each conversation somebody who says the next thing once the last was delivered, as long as not more
// answers are owed than the account may send.
/* oxlint-disable eslint/no-restricted-properties -- a person who waits no longer goes on */
import type { Random } from '../../crash/kit/random.ts';
import { askedFor, type Extra } from './extras.ts';
import type { Ledger, Said } from './ledger.ts';
import { paceOf } from './pace.ts';
import { type OpenPlatform, pause, type Target } from './platform.ts';

const TRANSIT_MS = 20;
const THINKS_MS = 1_000;
const READ_EVERY_MS = 1;
const REPEATED = 0.05;
/** Of the lines of an account, where its platform has any. */
const EACH_EXTRA = 6;
/** So long somebody waits for the button. */
const SEES_MS = 15_000;

export interface Channel {
  readonly ledger: Ledger;
  readonly platform: OpenPlatform;
}

export interface TrafficOptions {
  readonly channels: readonly Channel[];
  readonly random: Random;
  readonly url: string;
  readonly token: string;
  /** The number of the life that runs, or ran last. */
  readonly life: () => number;
}

export class Traffic {
  readonly #options: TrafficOptions;
  readonly #people: Promise<void>[] = [];
  readonly #ending = new AbortController();
  readonly #reader: NodeJS.Timeout;
  #stopped = false;
  #count = 0;

  constructor(options: TrafficOptions) {
    this.#options = options;
    for (const { platform } of options.channels) platform.slowed?.(paceOf(options.random));
    this.#reader = setInterval(() => this.read(), READ_EVERY_MS);
  }

  start(): void {
    for (const channel of this.#options.channels)
      for (let n = 1; n <= channel.ledger.platform.conversations; n += 1) this.#people.push(this.#person(channel, n));
  }

  /** What the platforms got so far goes to the ledgers. */
  read(): void {
    const life = this.#options.life();
    for (const { ledger, platform } of this.#options.channels) ledger.read((from) => platform.answers(from), life);
  }

  /** Says nothing new; resolves when everything that was said is delivered. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#people);
  }

  /** At the end, also of a run that failed. */
  close(): void {
    this.#stopped = true;
    clearInterval(this.#reader);
    this.#ending.abort();
  }

  get target(): Target {
    const { url, token, random } = this.#options;
    return {
      url,
      token,
      signal: this.#ending.signal,
      transitMs: () => random.between(0, TRANSIT_MS),
      isRepeated: () => random.chance(REPEATED),
    };
  }

  async #person({ ledger, platform }: Channel, first: number): Promise<void> {
    const { life, random } = this.#options;
    const { mostOwed, conversations, linesAConversation = Number.POSITIVE_INFINITY } = ledger.platform;
    for (let lines = 0; !this.#stopped; ) {
      await pause(random.between(0, THINKS_MS));
      if (ledger.owed(life()) >= mostOwed) continue;
      const conversation = first + conversations * Math.floor(lines / linesAConversation);
      lines += 1;
      if (!(await this.say({ ledger, platform }, conversation))) return;
    }
  }

  /** One more line. False when it could not be delivered. */
  async say({ ledger, platform }: Channel, conversation: number): Promise<boolean> {
    this.#count += 1;
    const token = `T${this.#count.toString(36)}X`;
    const extra = extraOf(ledger);
    const text = `hello ${token}${askedFor(extra)}`;
    const said = ledger.say({ token, text, conversation, extra }, this.#options.life());
    try {
      const fate = await platform.deliver(said, this.target);
      ledger.end(said, fate, this.#options.life());
      if (extra === 'button') await this.#press(platform, said);
      return true;
    } catch (error) {
      if (!this.#ending.signal.aborted) ledger.faults.push(`${token}: ${String(error)}`);
      return false;
    }
  }

  /** Once the button is there; who does not see it in time goes on without. */
  async #press(platform: OpenPlatform, said: Said): Promise<void> {
    const end = performance.now() + SEES_MS;
    while (said.answers.length === 0) {
      if (performance.now() > end) return;
      this.#ending.signal.throwIfAborted();
      await pause(READ_EVERY_MS);
    }
    if (platform.press === undefined) return;
    said.press = 'open';
    said.press = await platform.press(said, this.target);
  }
}

/** They take turns: each account comes to each of its own. */
function extraOf({ platform: { extras }, said }: Ledger): Extra | undefined {
  const turn = (said + 1) / EACH_EXTRA;
  return extras !== undefined && Number.isInteger(turn) ? extras[turn % extras.length] : undefined;
}
