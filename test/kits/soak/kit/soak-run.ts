// One soak: a daemon under mixed load and clients that come and go, disturbed in the first half of the time by restarts, kills and reloads,
// by reloads alone in the second. Nothing may be lost, and what the processes take must stay flat.
/* oxlint-disable eslint/no-restricted-properties -- how long a run goes on is what it is asked for */
import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';
import { FakeIrcServer } from '../../../support/fake-platforms/irc-server.ts';
import { WebhookPlatform } from '../../../support/fake-platforms/webhook-platform.ts';
import { portProject } from '../../../support/svc-command.ts';
import type { Cleanup } from '../../../support/temporary-project.ts';
import { until } from '../../../support/until.ts';
import { configOf, IRC_ACCOUNTS } from '../../crash/kit/crash-config.ts';
import { History } from '../../crash/kit/history.ts';
import { HostApi } from '../../crash/kit/host-api.ts';
import { Load } from '../../crash/kit/load.ts';
import { type Evidence, judgeHost, judgeRecord } from '../../crash/kit/oracle.ts';
import type { Random } from '../../crash/kit/random.ts';
import { CrashRecord } from '../../crash/kit/record.ts';
import { untilRest } from '../../crash/kit/rest.ts';
import { StreamFollower } from '../../crash/kit/stream-follower.ts';
import { Daemon } from './daemon.ts';
import { growthOf, judgeGrowth, round, type Sample, sampleOf } from './samples.ts';
import { Visitors } from './visitors.ts';

export interface SoakOptions {
  readonly random: Random;
  readonly seconds: number;
  /** A fault that the run has to find: `leak`. */
  readonly plant?: string;
}

const CLIENTS = 16;
const VISITORS = 24;
/** What the oracle asks for grows with the square of the deliveries: so many are judged in a minute. */
const MOST_DELIVERIES = 30_000;
const SAMPLE_MS = 1_000;
const REST_MS = 60_000;
/** After a restart memory fills up: caches, compiled code, the younger generation of the heap. */
const WARM_UP = 0.3;
/**
 * Resident MiB from the first to the last third of the second half; descriptors likewise, where visitors come and go. A run of less than three
 * minutes ends before the heap is full for the first time: it tells only a leak of what each line holds.
 */
const workerBounds = (seconds: number) => ({
  residentMiB: seconds < 180 ? 64 : 24,
  mibPerMinute: 8,
  descriptors: VISITORS,
});
const SUPERVISOR_BOUNDS = { residentMiB: 8, mibPerMinute: 2, descriptors: 2 };
/** Keeps 128 KiB of each line. */
const LEAK = `import { definePlugin } from 'svc';
const kept = [];
export default definePlugin({ name: 'leak', setup(p) {
  p.on('message', { order: 'before' }, () => void kept.push(Buffer.alloc(131_072, 1)));
} });
`;
/** Over those of the idle host, once everybody has left. */
const LEFT_DESCRIPTORS = 4;

type Step = 'reload' | 'restart' | 'kill';

export class SoakRun {
  readonly #options: SoakOptions;
  readonly #daemon: Daemon;
  readonly #api: HostApi;
  readonly #evidence: Evidence;
  readonly #load: Load;
  readonly #url: string;
  readonly #token: string;
  readonly #worker: Sample[] = [];
  readonly #supervisor: Sample[] = [];
  readonly #done = new Map<Step, number>();
  readonly #faults: string[] = [];
  #visitors: Visitors | undefined;
  #sampling: NodeJS.Timeout | undefined;
  #began = 0;
  #idle = 0;
  #left = 0;

  static async create(t: Cleanup, options: SoakOptions): Promise<SoakRun> {
    const lives = { count: 1 };
    const stamp = (): number => lives.count;
    const platform = new WebhookPlatform(`whsec_${randomBytes(32).toString('base64')}`, {
      stamp,
      misbehave: () => (options.random.chance(0.01) ? 'later' : undefined),
    });
    // A line is said at most once over one connection.
    const servers = IRC_ACCOUNTS.map(() => {
      const server: FakeIrcServer = new FakeIrcServer(() => server.connection ?? 0);
      return server;
    });
    const irc = new Map(IRC_ACCOUNTS.map((id, index) => [`root/irc:irc~${id}`, servers[index] as FakeIrcServer]));
    const project = await portProject(t, {
      env: { HOOK_SECRET: platform.secret },
      prefix: 'svc-soak-',
      plugins: { 'leak.js': LEAK },
    });
    await platform.listen(t);
    for (const server of servers) await server.listen(t);
    const leak = options.plant === 'leak' ? { leak: { use: './plugins/leak.js' } } : {};
    const config = configOf({ port: project.port, platform, irc });
    const plugins = { ...(config['plugins'] as object), ...leak };
    project.write('svc.config.yml', stringify({ ...config, plugins, supervisor: { restarts: 100 } }));
    const run = new SoakRun(
      { options, daemon: new Daemon(project), url: project.url, token: project.token },
      platform,
      irc,
    );
    run.#onDeath = () => void (lives.count += 1);
    t.after(() => run.#end());
    return run;
  }
  #onDeath = (): void => {};

  private constructor(
    { options, daemon, url, token }: { options: SoakOptions; daemon: Daemon; url: string; token: string },
    platform: WebhookPlatform,
    irc: ReadonlyMap<string, FakeIrcServer>,
  ) {
    this.#options = options;
    this.#daemon = daemon;
    this.#url = url;
    this.#token = token;
    this.#api = new HostApi(url, token);
    const record = new CrashRecord();
    const history = new History();
    const pauseMs = Math.max(0, (options.seconds * 1_000 * CLIENTS) / MOST_DELIVERIES - 20);
    this.#load = new Load({ url, token, random: options.random, record, platform, irc, clients: CLIENTS, pauseMs });
    this.#evidence = { record, history, platform, irc, followers: [] };
  }

  /** The whole run. An empty list: nothing was lost, and everything stayed flat. */
  async run(): Promise<readonly string[]> {
    const { random, seconds } = this.#options;
    await this.#daemon.start();
    await this.#follow();
    this.#idle = sampleOf(this.#daemon.worker, 0)?.descriptors ?? 0;
    this.#began = performance.now();
    this.#sampling = setInterval(() => this.#sample(), SAMPLE_MS);
    this.#load.start();
    this.#visitors = new Visitors({ url: this.#url, token: this.#token, random, count: VISITORS });
    for (const { at, step } of planOf(seconds)) {
      await this.#wait(at);
      await this.#disturb(step);
    }
    await this.#wait(seconds);
    clearInterval(this.#sampling);
    await this.#visitors.stop();
    await this.#load.stop();
    await untilRest(this.#evidence, this.#api, REST_MS).catch((error: unknown) => this.#faults.push(String(error)));
    await this.#judge();
    await this.#daemon.stop();
    return this.#faults;
  }

  summary(): string {
    const { record, history, platform, followers } = this.#evidence;
    const worker = growthOf(this.#steady());
    const supervisor = growthOf(this.#supervisor);
    const pair = ([first, last]: readonly [number, number]): string => `${round(first)} → ${round(last)}`;
    return [
      `seed ${this.#options.random.seed}, ${this.#options.seconds} s: ${[...this.#done].map(([step, n]) => `${n} ${step}s`).join(', ')}`,
      `deliveries ${record.deliveries.size} (${record.acknowledged} acknowledged), stored ${history.received.size}, webhook posts ${platform.posts.size}, events ${followers[0]?.last}, visits ${this.#visitors?.visits}`,
      `worker, second half: resident MiB ${pair(worker.residentMiB)} (${round(worker.mibPerMinute)} a minute), descriptors ${pair(worker.descriptors)}; idle ${this.#idle}, after everybody left ${this.#left}`,
      `supervisor, all the time: resident MiB ${pair(supervisor.residentMiB)}, descriptors ${pair(supervisor.descriptors)}`,
    ].join('\n');
  }

  async #follow(): Promise<void> {
    const { history, followers } = this.#evidence;
    const { random } = this.#options;
    const base = { url: this.#url, token: this.#token };
    const restless = () => random.between(20, 2_000);
    (followers as StreamFollower[]).push(
      new StreamFollower({ ...base, name: 'the follower', onEvent: history.take }),
      new StreamFollower({ ...base, name: 'the restless follower', restless }),
    );
    await until(() => followers.every(({ connects }) => connects > 0), { what: 'the followers to be connected' });
  }

  async #disturb(step: Step): Promise<void> {
    this.#done.set(step, (this.#done.get(step) ?? 0) + 1);
    if (step === 'kill') await this.#daemon.kill(this.#onDeath);
    else await this.#daemon[step]();
    if (step === 'restart') this.#onDeath();
  }

  async #judge(): Promise<void> {
    const left = (): number => sampleOf(this.#daemon.worker, 0)?.descriptors ?? 0;
    await until(() => left() <= this.#idle + LEFT_DESCRIPTORS, { what: 'descriptors to be given back' }).catch(() =>
      this.#faults.push(`${left()} descriptors are open after everybody has left, ${this.#idle} of the idle host`),
    );
    this.#left = left();
    this.#faults.push(
      ...judgeRecord(this.#evidence),
      ...(await judgeHost(this.#evidence, this.#api)),
      ...(this.#visitors?.faults ?? []),
      ...judgeGrowth('worker', growthOf(this.#steady()), workerBounds(this.#options.seconds)),
      ...judgeGrowth('supervisor', growthOf(this.#supervisor), SUPERVISOR_BOUNDS),
    );
    if (new Set(this.#supervisor.map(({ pid }) => pid)).size > 1) this.#faults.push('the supervisor was another one');
  }

  /** Samples of the last worker, from when it is warm. */
  #steady(): readonly Sample[] {
    const { pid } = this.#worker.at(-1) ?? { pid: 0 };
    const own = this.#worker.filter((sample) => sample.pid === pid);
    return own.slice(Math.floor(own.length * WARM_UP));
  }

  #sample(): void {
    const at = (performance.now() - this.#began) / 1_000;
    const worker = sampleOf(this.#daemon.worker, at);
    const supervisor = sampleOf(this.#daemon.supervisor, at);
    if (worker !== undefined) this.#worker.push(worker);
    if (supervisor !== undefined) this.#supervisor.push(supervisor);
  }

  async #wait(untilSecond: number): Promise<void> {
    const left = untilSecond * 1_000 - (performance.now() - this.#began);
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
  }

  async #end(): Promise<void> {
    clearInterval(this.#sampling);
    for (const follower of this.#evidence.followers) follower.close();
    await Promise.all([this.#visitors?.stop(), this.#load.stop()]);
  }
}

/** Restarts and kills in the first half, reloads all the time; crashes so far apart that each is the first in a row. */
function planOf(seconds: number): readonly { readonly at: number; readonly step: Step }[] {
  const often = Math.max(1, Math.floor(seconds / 300));
  const spread = (count: number, from: number, to: number): number[] =>
    Array.from({ length: count }, (_, index) => seconds * (from + ((to - from) * (index + 0.5)) / count));
  return [
    ...spread(6 * often, 0, 1).map((at) => ({ at, step: 'reload' as const })),
    ...spread(2 * often, 0.05, 0.4).map((at) => ({ at, step: 'restart' as const })),
    ...spread(often, 0.15, 0.35).map((at) => ({ at, step: 'kill' as const })),
  ].sort((a, b) => a.at - b.at);
}
