// One run: a host with an account of every platform, people who speak on all of them at once, and a SIGKILL at each moment that the plan names.
/* oxlint-disable eslint/no-restricted-properties -- a time-out, after which a run fails that would never end */

import { freePort } from '../../../support/free-port.ts';
import { type Cleanup, temporaryProject } from '../../../support/temporary-project.ts';
import { HostApi } from '../../crash/kit/host-api.ts';
import type { Random } from '../../crash/kit/random.ts';
import { logTail, WorkerLife } from '../../crash/kit/worker-life.ts';
import { readBooks } from './books.ts';
import { type Behind, distort } from './distorted.ts';
import { unansweredPresses } from './extras.ts';
import { COUNTING, configOf } from './host-config.ts';
import { type Evidence, judge, type Row, rowOf } from './judge.ts';
import type { Kill } from './kills.ts';
import { Ledger } from './ledger.ts';
import { type Life, Lives } from './lives.ts';
import { type Platform, pause } from './platform.ts';
import type { Channel } from './traffic.ts';

export interface PlatformsRunOptions {
  readonly platforms: readonly Platform[];
  readonly random: Random;
  /** A fault that the failpoints build is told to have. */
  readonly plant?: string;
  /** The plugin keeps its count in memory instead of the host's state. */
  readonly forgetful?: boolean;
  /** A fault of the platforms, of which the host knows nothing. */
  readonly behind?: Behind;
  /** How long nothing may change before the host is at rest; a fault may keep it from that for ever. */
  readonly restMs?: number;
}

export interface Verdict {
  /** Empty: every promise was kept. */
  readonly faults: readonly string[];
  readonly rows: readonly Row[];
  readonly missed: number;
  readonly ledgers: readonly Ledger[];
}

const REST_LIMIT_MS = 180_000;

export class PlatformsRun {
  readonly #channels: readonly Channel[];
  readonly #lives: Lives;
  readonly #api: HostApi;
  readonly #project: string;
  readonly #restMs: number;

  static async create(t: Cleanup, options: PlatformsRunOptions): Promise<PlatformsRun> {
    const channels = await openAll(t, options);
    const run = new PlatformsRun(t, { options, channels, port: await freePort() });
    t.after(() => run.#lives.close());
    return run;
  }

  private constructor(
    t: Cleanup,
    of: { readonly options: PlatformsRunOptions; readonly channels: readonly Channel[]; readonly port: number },
  ) {
    const { random, plant, forgetful = false, restMs = REST_LIMIT_MS } = of.options;
    this.#channels = of.channels;
    this.#restMs = restMs;
    const opened = of.channels.map(({ platform }) => platform);
    const { path, token } = temporaryProject(t, {
      config: configOf(opened, { port: of.port, forgetful }),
      env: Object.assign({}, ...opened.map(({ env }) => env ?? {})) as Record<string, string>,
      plugins: { 'counting.mjs': COUNTING },
      prefix: 'svc-crash-',
    });
    this.#project = path;
    const url = `http://127.0.0.1:${of.port}`;
    this.#api = new HostApi(url, token);
    this.#lives = new Lives({
      channels: of.channels,
      random,
      url,
      token,
      spawn: () => new WorkerLife(path, plant === undefined ? { build: 'published' } : { plant }),
      log: () => logTail(path),
    });
  }

  begin(): Promise<void> {
    return this.#lives.begin();
  }

  kill(kill: Kill): Promise<void> {
    return this.#lives.kill(kill);
  }

  /** Ends the load, lets the host come to rest and judges. */
  async verdict(): Promise<Verdict> {
    const { traffic, kills, missed } = this.#lives;
    const life = this.#lives.start();
    await traffic.stop();
    const faults: string[] = [];
    await this.#rest(life).catch((error: unknown) => faults.push(String(error)));
    if (life.end !== undefined) throw new Error(`the host ended by itself:\n${logTail(this.#project)}`);
    for (const { platform } of this.#channels) await platform.finish?.(traffic.target);
    traffic.read();
    const books = await readBooks(this.#api);
    const evidence = this.#channels.map(
      ({ ledger, platform }): Evidence => ({ ledger, books: books(platform), kills, shown: platform.shown?.() }),
    );
    faults.push(...evidence.flatMap(judge));
    const { code } = await life.stop();
    if (code !== 0) faults.push(`the orderly end had code ${code}:\n${logTail(this.#project)}`);
    return { faults, rows: evidence.map(rowOf), missed, ledgers: evidence.map(({ ledger }) => ledger) };
  }

  /** However long that takes: an account may say a line a second, and what it owes grew with the kills. Throws where nothing changes any more. */
  async #rest(life: Life): Promise<void> {
    let [owed, changedAt] = ['', performance.now()];
    for (;;) {
      const open = await this.#api.unfinished().catch(String);
      if (life.end !== undefined || (open === 0 && this.#isAnswered())) return;
      const now = [open, ...this.#channels.map(({ ledger }) => ledger.unanswered().length)].join();
      if (now !== owed) [owed, changedAt] = [now, performance.now()];
      if (performance.now() - changedAt > this.#restMs)
        throw new Error(`nothing has changed for ${this.#restMs} ms, and ${open} items and sends are open`);
      await pause(100);
    }
  }

  #isAnswered(): boolean {
    return this.#channels.every(
      ({ ledger }) =>
        ledger.platform.isReadLate === true || (ledger.unanswered().length === 0 && unansweredPresses(ledger) === 0),
    );
  }
}

async function openAll(t: Cleanup, { platforms, behind }: PlatformsRunOptions): Promise<readonly Channel[]> {
  const channels: Channel[] = [];
  for (const of of platforms) {
    const platform = await of.open(t);
    if (behind !== undefined) distort(platform, behind);
    channels.push({ ledger: new Ledger(of), platform });
  }
  return channels;
}
