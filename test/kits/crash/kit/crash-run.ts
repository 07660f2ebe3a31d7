// One run: a project, its platforms, clients that follow, a load, and a worker that is killed again and again. What came of it goes to the oracle.
import { randomBytes } from 'node:crypto';
import { FakeIrcServer } from '../../../support/fake-platforms/irc-server.ts';
import { WebhookPlatform } from '../../../support/fake-platforms/webhook-platform.ts';
import { freePort } from '../../../support/free-port.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from '../../../support/temporary-project.ts';
import { until } from '../../../support/until.ts';
import { configOf, IRC_ACCOUNTS } from './crash-config.ts';
import { History } from './history.ts';
import { HostApi } from './host-api.ts';
import { type Kill, labelOf, STEPS, type Step } from './kill-plan.ts';
import { Load } from './load.ts';
import { type Evidence, judgeHost, judgeRecord } from './oracle.ts';
import { judgeConversations } from './order.ts';
import type { Random } from './random.ts';
import { CrashRecord } from './record.ts';
import { untilRest } from './rest.ts';
import { StreamFollower } from './stream-follower.ts';
import { logTail, WorkerLife } from './worker-life.ts';

/** Requests that each kill after the first acknowledgement of a life is to cut. Before it nobody can say that any is open: the host may not even listen. */
export const LEAST_OPEN = 20;
const MOST_TRIES = 5;
/** Turns of the event loop; a connection that waits to be accepted takes a few until its request is read. */
const LAST_WORDS_TURNS = 50;

export interface CrashRunOptions {
  readonly random: Random;
  /** A fault that the failpoints build is told to have: `seq-from-memory`. */
  readonly plant?: string;
  readonly clients?: number;
  /** How long the host may take to come to rest; a fault may keep it from that for ever. */
  readonly restMs?: number;
  /** Called before the first life, in the project. */
  readonly prepare?: (project: TemporaryProject) => void;
  /** How a life ends; default: SIGKILL. */
  readonly cut?: (life: WorkerLife) => Promise<void>;
}

const CLIENTS = 32;
const WELL_BEHAVED_FROM = 4;
const STEP_LIMIT_MS = 2_000;
const UP_LIMIT_MS = 60_000;
const DRAIN_LIMIT_MS = 120_000;

export class CrashRun {
  readonly record = new CrashRecord();
  readonly history = new History();
  readonly project: TemporaryProject;
  /** How often each kind of kill was made; a step counts when the worker died there by itself. */
  readonly kills = new Map<string, number>();
  /** Requests that each kill cut which came after the first acknowledgement of its life. */
  readonly openAtKill: number[] = [];
  /** Of those that came before: while the worker started, or at a step on the way of a first message. */
  readonly openBefore: number[] = [];
  /** Neighbours in a conversation whose order was looked at. */
  orderedPairs = 0;
  readonly #options: CrashRunOptions;
  readonly #platform: WebhookPlatform;
  readonly #irc: ReadonlyMap<string, FakeIrcServer>;
  readonly #followers: StreamFollower[] = [];
  readonly #load: Load;
  readonly #api: HostApi;
  #lives = 0;
  #life: WorkerLife | undefined;

  static async create(t: Cleanup, options: CrashRunOptions): Promise<CrashRun> {
    const lives = { count: 0 };
    const stamp = (): number => lives.count;
    const { random } = options;
    // Only at first: later on each kill has cost a send an attempt, and the wait after a failure grows with those.
    const misbehave = (): 'drop' | 'later' | undefined =>
      lives.count > WELL_BEHAVED_FROM
        ? undefined
        : random.chance(0.05)
          ? 'drop'
          : random.chance(0.05)
            ? 'later'
            : undefined;
    const platform = new WebhookPlatform(`whsec_${randomBytes(32).toString('base64')}`, { stamp, misbehave });
    const irc = new Map(IRC_ACCOUNTS.map((id) => [`root/irc:irc~${id}`, new FakeIrcServer(stamp)]));
    await platform.listen(t);
    for (const server of irc.values()) await server.listen(t);
    const port = await freePort();
    const run = new CrashRun(t, { options, platform, irc, port });
    Object.defineProperty(lives, 'count', { get: () => run.#lives });
    t.after(() => run.#end());
    return run;
  }

  private constructor(
    t: Cleanup,
    {
      options,
      platform,
      irc,
      port,
    }: { options: CrashRunOptions; platform: WebhookPlatform; irc: ReadonlyMap<string, FakeIrcServer>; port: number },
  ) {
    this.#options = options;
    this.#platform = platform;
    this.#irc = irc;
    this.project = temporaryProject(t, {
      config: configOf({ port, platform, irc }),
      env: { HOOK_SECRET: platform.secret },
      prefix: 'svc-crash-',
    });
    const url = `http://127.0.0.1:${port}`;
    options.prepare?.(this.project);
    const { token } = this.project;
    this.#api = new HostApi(url, token);
    this.#load = new Load({
      url,
      token,
      random: options.random,
      record: this.record,
      platform,
      irc,
      clients: options.clients ?? CLIENTS,
    });
    this.#followers.push(new StreamFollower({ name: 'the follower', url, token, onEvent: this.history.take }));
    this.#followers.push(
      new StreamFollower({
        name: 'the restless follower',
        url,
        token,
        restless: () => options.random.between(20, 400),
      }),
    );
  }

  /** The first life, before any load, so that the followers are there from the beginning. */
  async begin(): Promise<void> {
    this.#start();
    await this.#ready();
    await until(() => this.#followers.every(({ connects }) => connects > 0), { what: 'the followers to be connected' });
    await this.#life?.kill();
    this.#load.start();
  }

  /** Again when hardly anybody had a request open: at a busy moment of the machine the first acknowledgement may come before the others are back. */
  async kill(kill: Kill): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const { open, isUnderLoad } = await this.#kill(kill);
      if (!isUnderLoad) return void this.openBefore.push(open);
      if (open < LEAST_OPEN && tries < MOST_TRIES) continue;
      return void this.openAtKill.push(open);
    }
  }

  /** How many requests it cut, and whether it came after a first acknowledgement. */
  async #kill(kill: Kill): Promise<{ readonly open: number; readonly isUnderLoad: boolean }> {
    const life = this.#start(kill.kind === 'step' ? `${kill.step}=kill@${kill.pass}` : undefined);
    const cutBefore = this.#load.cut;
    let label = labelOf(kill);
    let isUnderLoad = false;
    if (kill.kind === 'starting') await Promise.race([life.ended, pause(kill.delayMs)]);
    else if (await this.#acknowledges(life)) {
      await Promise.race([life.ended, this.#moment(kill)]);
      isUnderLoad = true;
    }
    const hitItself = life.end !== undefined;
    if (kill.kind === 'step' && !hitItself) label = `${label} (not reached)`;
    await this.#options.cut?.(life);
    const { signal, code } = await life.kill();
    await lastWords();
    if (signal !== 'SIGKILL')
      throw new Error(`the worker ended by itself with ${code ?? signal}:\n${logTail(this.project.path)}`);
    this.kills.set(label, (this.kills.get(label) ?? 0) + 1);
    await until(() => this.#load.isCut, { what: 'every open request to be cut' });
    return { open: this.#load.cut - cutBefore, isUnderLoad };
  }

  /** After the first acknowledgement. */
  async #moment(kill: Exclude<Kill, { kind: 'starting' }>): Promise<void> {
    if (kill.kind === 'acknowledged') return pause(kill.delayMs);
    if (kill.kind === 'step') return pause(STEP_LIMIT_MS);
    const enough = this.history.received.size + kill.deliveries;
    await until(() => this.history.received.size >= enough, {
      what: `${kill.deliveries} deliveries to be followed`,
      timeoutMs: UP_LIMIT_MS,
    });
  }

  /** Ends the load, lets the host come to rest and judges. An empty list: every promise was kept. */
  async verdict(): Promise<readonly string[]> {
    const life = this.#start();
    await this.#load.stop();
    const faults: string[] = [];
    await this.#ready();
    const evidence: Evidence = {
      record: this.record,
      history: this.history,
      platform: this.#platform,
      irc: this.#irc,
      followers: this.#followers,
    };
    const restMs = this.#options.restMs ?? DRAIN_LIMIT_MS;
    await untilRest(evidence, this.#api, restMs).catch((error: unknown) =>
      faults.push(`not at rest: ${String(error)}`),
    );
    this.orderedPairs = judgeConversations(evidence).pairs;
    faults.push(...judgeRecord(evidence), ...(await judgeHost(evidence, this.#api)));
    const { code } = await life.stop();
    if (code !== 0) faults.push(`the orderly end had code ${code}:\n${logTail(this.project.path)}`);
    return faults;
  }

  /** Steps at which the worker died, with how often. */
  stepsHit(): ReadonlyMap<Step, number> {
    return new Map(STEPS.map((step) => [step, this.kills.get(`at ${step}`) ?? 0]));
  }

  summary(): string {
    const { record, history } = this;
    const fates = new Map<string, number>();
    for (const { via, fate } of record.deliveries.values())
      fates.set(`${via} ${fate}`, (fates.get(`${via} ${fate}`) ?? 0) + 1);
    const repeats = [...this.#platform.posts.values()].filter(({ taken }) => taken.length > 1).length;
    const heard = [...this.#irc.values()].reduce((sum, server) => sum + server.heard.length, 0);
    return [
      `seed ${this.#options.random.seed}, ${this.#lives} lives`,
      ...[...this.kills]
        .sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
        .map(([label, count]) => `  ${String(count).padStart(4)} ${label}`),
      `requests cut by each of the ${this.openAtKill.length} kills after a first acknowledgement: ${rangeOf(this.openAtKill)}; by each of the ${this.openBefore.length} before one, of which nothing is asked: ${rangeOf(this.openBefore)}`,
      `neighbours in a conversation whose order was looked at: ${this.orderedPairs}`,
      `deliveries: ${counted(fates)}${record.refusals.size === 0 ? '' : `; refused with ${counted(record.refusals)}`}`,
      `stored ${history.received.size}; webhook posts ${this.#platform.posts.size} (${repeats} repeated under their key), IRC answers ${heard}; events ${this.#followers[0]?.last}, stream connections ${this.#followers.map(({ connects }) => connects).join(' and ')}`,
    ].join('\n');
  }

  #start(failpoints?: string): WorkerLife {
    this.#lives += 1;
    this.#life = new WorkerLife(this.project.path, { failpoints, plant: this.#options.plant });
    return this.#life;
  }

  /** False when it died before the first acknowledgement. */
  async #acknowledges(life: WorkerLife): Promise<boolean> {
    let first: 'ack' | 'end' | undefined;
    void this.record.nextAck().then(() => (first ??= 'ack'));
    void life.ended.then(() => (first ??= 'end'));
    const what = 'an acknowledgement';
    const came = await until(() => first, { what, timeoutMs: UP_LIMIT_MS }).catch((error: Error) => {
      throw new Error(`${error.message}:\n${logTail(this.project.path)}`, { cause: error });
    });
    return came === 'ack';
  }

  async #ready(): Promise<void> {
    const isReady = async (): Promise<boolean> => this.#life?.end !== undefined || this.#api.isReady();
    await until(isReady, { what: 'the worker to be ready', timeoutMs: UP_LIMIT_MS });
    if (this.#life?.end !== undefined)
      throw new Error(
        `the worker ended with ${this.#life.end.code ?? this.#life.end.signal}:\n${logTail(this.project.path)}`,
      );
  }

  async #end(): Promise<void> {
    for (const follower of this.#followers) follower.close();
    const stopped = this.#load.stop();
    await this.#life?.kill();
    await stopped;
  }
}

/** What a dead worker had written is in the kernel: the platforms, which are of this process, read it before the next life is counted. */
async function lastWords(): Promise<void> {
  for (let turn = 0; turn < LAST_WORDS_TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Does not hold back the end of the test by itself. */
const pause = (ms: number): Promise<undefined> =>
  new Promise((resolve) => void setTimeout(() => resolve(undefined), ms).unref());

const rangeOf = (counts: readonly number[]): string =>
  counts.length === 0 ? 'none' : `${Math.min(...counts)} to ${Math.max(...counts)}`;

const counted = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([name, count]) => `${count} ${name}`).join(', ');
