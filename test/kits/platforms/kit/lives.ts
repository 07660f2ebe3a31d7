// The lives of a bot under load, each ended by SIGKILL at the moment that a plan names; what comes of it is in the ledgers.

import { until } from '../../../support/until.ts';
import type { Random } from '../../crash/kit/random.ts';
import type { LifeEnd } from '../../crash/kit/worker-life.ts';
import type { Kill } from './kills.ts';
import { pause } from './platform.ts';
import { type Channel, Traffic } from './traffic.ts';

/** A process of the bot. */
export interface Life {
  readonly ended: Promise<LifeEnd>;
  readonly end: LifeEnd | undefined;
  kill(): Promise<LifeEnd>;
  /** The orderly end. */
  stop(): Promise<LifeEnd>;
}

export interface LivesOptions {
  readonly channels: readonly Channel[];
  readonly random: Random;
  readonly url: string;
  readonly token: string;
  readonly spawn: () => Life;
  /** The last lines of its log, for a failure. */
  readonly log: () => string;
}

const UP_LIMIT_MS = 180_000;
/** After it a life is ended as it is: its platform may owe too many answers. */
const AIM_LIMIT_MS = 5_000;
/** Turns of the event loop in which the platforms read what a dead process had written. */
const LAST_WORDS_TURNS = 50;

export class Lives {
  readonly traffic: Traffic;
  readonly #options: LivesOptions;
  #count = 0;
  #kills = 0;
  #missed = 0;
  #life: Life | undefined;

  constructor(options: LivesOptions) {
    this.#options = options;
    const { channels, random, url, token } = options;
    this.traffic = new Traffic({ channels, random, url, token, life: () => this.#count });
  }

  get kills(): number {
    return this.#kills;
  }
  /** Kills that came before their platform was so far. */
  get missed(): number {
    return this.#missed;
  }

  /** The first life goes on until every platform has had an answer, so that each works before anything is killed. */
  async begin(): Promise<void> {
    this.start();
    this.traffic.start();
    const quiet = (): readonly string[] =>
      this.#options.channels
        .filter(({ ledger }) => (ledger.platform.isReadLate === true ? ledger.delivered : ledger.answered) === 0)
        .map(({ ledger }) => ledger.platform.name);
    await until(() => this.#life?.end !== undefined || quiet().length === 0, {
      what: 'every platform to be served',
      timeoutMs: UP_LIMIT_MS,
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}: not ${quiet().join(', ')}\n${this.#options.log()}`);
    });
    await this.#cut();
  }

  start(): Life {
    this.#count += 1;
    this.#life = this.#options.spawn();
    return this.#life;
  }

  async kill(kill: Kill): Promise<void> {
    const life = this.start();
    if (kill.kind === 'starting') await Promise.race([life.ended, pause(kill.delayMs)]);
    else if (!(await this.#passes(kill, life))) this.#missed += 1;
    else if (kill.delayMs > 0) await pause(kill.delayMs);
    await this.#cut();
    this.#kills += 1;
  }

  /** Nothing of it runs any more. */
  async close(): Promise<void> {
    this.traffic.close();
    await this.#life?.kill();
  }

  /** False when the platform did not come so far in time. */
  async #passes({ kind, platform, pass }: Exclude<Kill, { readonly kind: 'starting' }>, life: Life): Promise<boolean> {
    const ledger = this.#options.channels.find((channel) => channel.ledger.platform.name === platform)?.ledger;
    if (ledger === undefined) return false;
    const count = (): number => (kind === 'acknowledged' ? ledger.delivered : ledger.answersEver);
    const due = count() + pass;
    let reached: (isReached: boolean) => void = () => {};
    const passed = new Promise<boolean>((resolve) => {
      reached = resolve;
    });
    const look = (): void => {
      if (count() >= due) reached(true);
    };
    if (kind === 'acknowledged') ledger.onDelivered = look;
    else ledger.onAnswer = look;
    const timer = setTimeout(() => reached(false), AIM_LIMIT_MS);
    void life.ended.then(() => reached(false));
    const isReached = await passed;
    clearTimeout(timer);
    ledger.onDelivered = () => {};
    ledger.onAnswer = () => {};
    return isReached;
  }

  async #cut(): Promise<void> {
    const { signal, code } = (await this.#life?.kill()) ?? {};
    if (signal !== 'SIGKILL') throw new Error(`it ended by itself with ${code ?? signal}:\n${this.#options.log()}`);
    // What it had written is in the kernel: the platforms, which are of this process, read it before the next life is counted.
    for (let turn = 0; turn < LAST_WORDS_TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    this.traffic.read();
  }
}
