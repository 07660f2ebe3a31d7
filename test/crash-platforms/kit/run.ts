// One run: a host with an account of every platform, people who speak on all of them at once, and a SIGKILL at each moment that the plan names.
import { HostApi } from '../../crash/kit/host-api.ts';
import type { Random } from '../../crash/kit/random.ts';
import { logTail, WorkerLife } from '../../crash/kit/worker-life.ts';
import { freePort } from '../../support/free-port.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';
import { readBooks } from './books.ts';
import { COUNTING, configOf } from './host-config.ts';
import { type Evidence, judge, type Row, rowOf } from './judge.ts';
import type { Kill } from './kills.ts';
import { Ledger } from './ledger.ts';
import { type Platform, pause } from './platform.ts';
import { type Channel, Traffic } from './traffic.ts';

export interface PlatformsRunOptions {
  readonly platforms: readonly Platform[];
  readonly random: Random;
  /** A fault that the failpoints build is told to have. */
  readonly plant?: string;
  /** The plugin keeps its count in memory instead of the host's state. */
  readonly forgetful?: boolean;
  /** How long the host may take to come to rest; a fault may keep it from that for ever. */
  readonly restMs?: number;
}

const UP_LIMIT_MS = 60_000;
/** After it a life is ended as it is: its platform may owe too many answers. */
const AIM_LIMIT_MS = 10_000;
const REST_LIMIT_MS = 180_000;
/** Turns of the event loop in which the platforms read what a dead host had written. */
const LAST_WORDS_TURNS = 50;

export class PlatformsRun {
  readonly project: TemporaryProject;
  readonly #options: PlatformsRunOptions;
  readonly #channels: readonly Channel[];
  readonly #traffic: Traffic;
  readonly #api: HostApi;
  #lives = 0;
  #kills = 0;
  #missed = 0;
  #life: WorkerLife | undefined;

  static async create(t: Cleanup, options: PlatformsRunOptions): Promise<PlatformsRun> {
    const channels: Channel[] = [];
    for (const platform of options.platforms)
      channels.push({ ledger: new Ledger(platform), platform: await platform.open(t) });
    const run = new PlatformsRun(t, { options, channels, port: await freePort() });
    t.after(() => run.#end());
    return run;
  }

  private constructor(
    t: Cleanup,
    {
      options,
      channels,
      port,
    }: { readonly options: PlatformsRunOptions; readonly channels: readonly Channel[]; readonly port: number },
  ) {
    this.#options = options;
    this.#channels = channels;
    const opened = channels.map(({ platform }) => platform);
    this.project = temporaryProject(t, {
      config: configOf(opened, { port, forgetful: options.forgetful ?? false }),
      env: Object.assign({}, ...opened.map(({ env }) => env ?? {})) as Record<string, string>,
      plugins: { 'counting.mjs': COUNTING },
      prefix: 'svc-crash-',
    });
    const url = `http://127.0.0.1:${port}`;
    const { token } = this.project;
    this.#api = new HostApi(url, token);
    this.#traffic = new Traffic({ channels, url, token, random: options.random, life: () => this.#lives });
  }

  /** The first life goes on until every platform has had an answer, so that each works before anything is killed. */
  async begin(): Promise<void> {
    this.#start();
    this.#traffic.start();
    const quiet = (): readonly string[] =>
      this.#channels
        .filter(({ ledger }) => (ledger.platform.isReadLate === true ? ledger.delivered : ledger.answered) === 0)
        .map(({ ledger }) => ledger.platform.name);
    await until(() => this.#life?.end !== undefined || quiet().length === 0, {
      what: 'every platform to be served',
      timeoutMs: UP_LIMIT_MS,
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}: not ${quiet().join(', ')}\n${logTail(this.project.path)}`);
    });
    await this.#cut();
  }

  async kill(kill: Kill): Promise<void> {
    const life = this.#start();
    if (kill.kind === 'starting') await Promise.race([life.ended, pause(kill.delayMs)]);
    else if (await this.#passes(kill)) await pause(kill.delayMs);
    else this.#missed += 1;
    await this.#cut();
    this.#kills += 1;
  }

  /** Ends the load, lets the host come to rest and judges. An empty list: every promise was kept. */
  async verdict(): Promise<{
    readonly faults: readonly string[];
    readonly rows: readonly Row[];
    readonly missed: number;
  }> {
    const life = this.#start();
    await this.#traffic.stop();
    const faults: string[] = [];
    const isAtRest = async (): Promise<boolean> =>
      life.end !== undefined || ((await this.#api.unfinished()) === 0 && this.#isAnswered());
    await until(isAtRest, {
      what: 'the host to come to rest',
      timeoutMs: this.#options.restMs ?? REST_LIMIT_MS,
      everyMs: 100,
    }).catch((error: unknown) => faults.push(String(error)));
    if (life.end !== undefined) throw new Error(`the host ended by itself:\n${logTail(this.project.path)}`);
    for (const { platform } of this.#channels) await platform.finish?.(this.#traffic.target);
    this.#traffic.read();
    const books = await readBooks(this.#api);
    const evidence = this.#channels.map(
      ({ ledger, platform }): Evidence => ({ ledger, books: books(platform), kills: this.#kills }),
    );
    faults.push(...evidence.flatMap(judge));
    const { code } = await life.stop();
    if (code !== 0) faults.push(`the orderly end had code ${code}:\n${logTail(this.project.path)}`);
    return { faults, rows: evidence.map(rowOf), missed: this.#missed };
  }

  #start(): WorkerLife {
    const { plant } = this.#options;
    this.#lives += 1;
    this.#life = new WorkerLife(
      this.project.path,
      plant === undefined ? { build: 'published' } : { failpoints: `plant.${plant}=on` },
    );
    return this.#life;
  }

  /** False when the platform did not come so far in time. */
  async #passes({ kind, platform, pass }: Exclude<Kill, { readonly kind: 'starting' }>): Promise<boolean> {
    const ledger = this.#channels.find((channel) => channel.ledger.platform.name === platform)?.ledger;
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
    void this.#life?.ended.then(() => reached(false));
    const isReached = await passed;
    clearTimeout(timer);
    ledger.onDelivered = () => {};
    ledger.onAnswer = () => {};
    return isReached;
  }

  async #cut(): Promise<void> {
    const { signal, code } = (await this.#life?.kill()) ?? {};
    if (signal !== 'SIGKILL')
      throw new Error(`the host ended by itself with ${code ?? signal}:\n${logTail(this.project.path)}`);
    // What a dead host had written is in the kernel: the platforms, which are of this process, read it before the next life is counted.
    for (let turn = 0; turn < LAST_WORDS_TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    this.#traffic.read();
  }

  #isAnswered(): boolean {
    return this.#channels.every(
      ({ ledger }) => ledger.platform.isReadLate === true || ledger.unanswered().length === 0,
    );
  }

  async #end(): Promise<void> {
    this.#traffic.close();
    await this.#life?.kill();
  }
}
