// One process of a test bot: the worker's engine over a disk in memory. Its only account is a fake platform. HTTP, the writer's thread and the
// operating system's process are left out.
import '../../shared/process/failpoints.ts';
import { newProjectId, newRuntimeId, uuidv7 } from '../../shared/identifiers.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Core, Log } from '../core/core.ts';
import { Engine } from '../engine/engine.ts';
import { decideEffects } from '../handling/effects/effects.ts';
import type { RouteCapability } from '../handling/plan/capabilities.ts';
import { usageOf } from '../handling/plan/command-line.ts';
import { runHandler } from '../handling/run/run-step.ts';
import type { ItemOutcome } from '../inbox/dispatcher.ts';
import { Webhooks } from '../ingress/webhooks.ts';
import { gaugeValue } from '../metrics/gauge-value.ts';
import type { Generation } from '../runtime/generations/generation.ts';
import { createPluginRoutes } from '../runtime/generations/plugin-routes.ts';
import { type Arrival, defineAdapter, type Link } from '../sdk/adapter.ts';
import type { PluginModule } from '../sdk/plugin.ts';
import type { HttpAnswer, RawRequest } from '../sdk/request.ts';
import { check } from '../sdk/schema/check.ts';
import type { WorkItem } from '../sdk/workroom.ts';
import type { FakePlatform } from './fake-platform.ts';
import type { Life } from './life.ts';
import type { ManualClock } from './manual-clock.ts';
import type { MemoryDisk } from './memory-disk.ts';
import { type TestBoard, testBoard } from './test-board.ts';
import type { TestWorkroom } from './test-bot.ts';
import { type TestPlugins, testConfig } from './test-config.ts';

/** The slot of the fake platform; `fake` is also the short name of its endpoint. */
const FAKE = 'fake';
/** The account as arrivals and configurations name it in full. */
const FULL_NAME = `root/${FAKE}:${FAKE}`;

export interface ProcessOptions extends TestPlugins {
  readonly life: Life;
  readonly disk: MemoryDisk;
  readonly clock: ManualClock;
  readonly platform: FakePlatform;
  readonly direct: boolean;
  readonly files: Readonly<Record<string, Uint8Array>>;
  readonly parts: Readonly<Record<string, unknown>>;
  readonly workroom: TestWorkroom | undefined;
  readonly log: (line: unknown) => void;
  readonly point: (name: string) => void;
  /** Wraps each handling of an item. */
  readonly around: (handle: () => Promise<ItemOutcome>) => Promise<ItemOutcome>;
}

export class BotProcess {
  readonly #options: ProcessOptions;
  readonly #core: Core;
  readonly #engine: Engine;
  readonly #webhooks: Webhooks;
  readonly #counts = new Map<string, number>();
  readonly #board: TestBoard | undefined;
  #link: Link<unknown> | undefined;

  constructor(options: ProcessOptions) {
    const { life, disk, modules, config, operators, parts, around } = options;
    this.#options = options;
    this.#core = {
      runtimeId: newRuntimeId(),
      projectId: newProjectId(),
      clock: life.clock(options.clock),
      writer: disk.writer(life),
      reader: disk.reader(life),
      log: logTo(options.log),
      point: (name) => life.guard(() => options.point(name)),
    };
    this.#board =
      options.workroom === undefined
        ? undefined
        : testBoard(this.#core, options.workroom, { endpoint: FULL_NAME, timers: () => this.#engine.timers });
    const all = { [FAKE]: this.#adapter(), ...modules };
    this.#engine = new Engine({
      core: this.#core,
      project: '/',
      mode: 'test',
      environment: {},
      loaded: testConfig({ modules: all, config, operators }),
      lockfile: '/package-lock.json',
      mediaFolder: '/media',
      linkKey: () => Buffer.alloc(32),
      files: disk.files(life),
      observer: {
        counted: (counter, labels) => this.#count(counter, labels),
        reactionDropped: (endpoint) => this.#count('svc_reactions_dropped_total', { endpoint }),
      },
      admit: () => {},
      modules: all,
      parts: { ...(this.#board === undefined ? {} : { workroom: this.#board.part }), ...parts },
      around,
    });
    const { endpoints, inbox, gate } = this.#engine;
    this.#webhooks = new Webhooks({
      core: this.#core,
      endpoints,
      inbox,
      gate,
      generation: () => this.#engine.runtime.current,
      admit: () => {},
      observe: () => {},
      failed: (failed) => this.#engine.pluginFailed(failed),
    });
  }

  get generation(): Generation {
    const { current, lastFailure } = this.#engine.runtime;
    if (current === undefined) throw lastFailure ?? new Error('the bot was not started');
    return current;
  }

  /** Assembles the plugins, opens resources, and resumes the work on the disk. Throws the errors of assembly. */
  async start(): Promise<void> {
    await this.#engine.load();
    await this.#board?.begin();
    await this.#engine.start();
    void this.generation;
  }

  async receive(arrival: Arrival): Promise<void> {
    if (this.#link === undefined) throw new Error('the fake platform is not connected');
    await this.#link.receive([arrival]);
  }

  async items(): Promise<readonly WorkItem[]> {
    return (await this.#board?.items()) ?? [];
  }

  async deliver(request: RawRequest): Promise<HttpAnswer> {
    try {
      return await this.#webhooks.deliver(request);
    } catch (error) {
      if (error instanceof SvcError) return { status: error.status, json: { code: error.code } };
      throw error;
    }
  }

  /** Makes a cron handler due at this instant, once. */
  async due(capability: string, at: number): Promise<void> {
    await this.#engine.inbox.accept([
      {
        endpoint: capability,
        deliveryId: `cron/${at}`,
        payload: { kind: 'cron', due: at },
        lane: capability,
        capability,
      },
    ]);
  }

  /** The result of a tool, or the answer of a route. The handler's effects are committed. */
  call(id: string, input: unknown, request: Pick<RawRequest, 'headers' | 'query'>): Promise<unknown> {
    const capability = this.generation.capabilities.find(id);
    if (capability?.kind === 'route') return this.#callRoute(capability, input, request);
    if (capability?.kind === 'tool') return this.#callTool(id, input);
    throw new Error(`there is no tool or route ${id}`);
  }

  /** One line for each command, in order. */
  help(): string {
    const commands = this.generation.capabilities.ofKind('command');
    return commands.map((command) => `${usageOf(command, '/')}  ${command.spec.summary}`).join('\n');
  }

  /** The values of `/api/metrics` of a host: counters of this process, and current gauges. */
  async metrics(): Promise<Record<string, number>> {
    const { counters, gauges } = this.generation.candidate;
    const without = counters.filter(({ labels }) => Object.keys(labels).length === 0);
    const values: Record<string, number> = Object.fromEntries(without.map(({ name }) => [name, 0]));
    for (const [name, count] of this.#counts) values[name] = count;
    const read = await Promise.all(gauges.map(async (gauge) => [gauge.name, await gaugeValue(gauge.read)] as const));
    return { ...values, ...Object.fromEntries(read) };
  }

  /** Running handlers. */
  get running(): number {
    return this.#engine.dispatcher.running;
  }

  /** True while work is under way. `nested` handlers wait for the test and do not count. */
  isBusy(nested: number): boolean {
    const { dispatcher, sender, timers } = this.#engine;
    return dispatcher.running > nested || sender.running > 0 || !timers.idle;
  }

  async stop(): Promise<void> {
    await this.#engine.stop(() => 0);
  }

  #adapter(): PluginModule {
    const { platform, life, direct, files } = this.#options;
    return defineAdapter({
      name: FAKE,
      account: {},
      can: platform.can,
      connect: (link) => {
        this.#link = link;
        link.online();
        return new Promise((resolve) => link.signal.addEventListener('abort', () => resolve(), { once: true }));
      },
      ...(direct ? { direct: (person: string) => `dm-${person}` } : {}),
      send: (call) => life.guard(() => platform.send(call)),
      fetchFile: async ({ id }) => {
        const bytes = files[id];
        if (bytes === undefined) throw new Error(`there is no file ${id} on the fake platform`);
        return new Blob([Uint8Array.from(bytes)]).stream();
      },
    });
  }

  #count(counter: string, labels: Readonly<Record<string, string>>): void {
    const name = seriesOf(counter, labels);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  async #callRoute(
    { spec, slot }: RouteCapability,
    input: unknown,
    request: Pick<RawRequest, 'headers' | 'query'>,
  ): Promise<unknown> {
    const { method, path } = spec;
    const call = createPluginRoutes({
      context: this.#engine.context,
      generation: () => this.generation,
      admit: () => {},
      decide: this.#engine.decide,
      failed: () => {},
    })(method, slot, path);
    if (call === undefined || !('run' in call)) throw new Error(`there is no route ${method} ${path}`);
    const body = Buffer.from(input === undefined ? '' : JSON.stringify(input));
    return call.run({ method, path, ...request, body, receivedAt: this.#core.clock.now() });
  }

  async #callTool(id: string, input: unknown): Promise<unknown> {
    const { generation } = this;
    const capability = generation.capabilities.find(id);
    if (capability?.kind !== 'tool') throw new Error(`there is no tool ${id}`);
    const checked = check({ type: 'object', properties: capability.spec.input }, input);
    if (!checked.ok) throw new Error(checked.faults.join('; '));
    const now = this.#core.clock.now();
    const cause = { id: uuidv7(now), receivedAt: now, attempt: 1, chat: undefined };
    let result: unknown;
    const ran = await runHandler({ deps: { ...this.#engine.context, generation }, capability, cause }, async (ctx) => {
      result = await capability.run(ctx, checked.value as never);
    });
    if (ran.kind === 'failed') throw ran.error;
    const decided = decideEffects(
      { core: this.#core, generation, cause, itemId: null, correlationId: null, actor: id },
      ran.run.effects,
    );
    await this.#engine.decide(decided, () =>
      this.#core.writer.commit({ name: 'tool.decided', statements: decided.statements }),
    );
    return result;
  }
}

/** The name of a series in the text format: `name{label="value"}`. */
function seriesOf(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`;
}

function logTo(write: (line: unknown) => void): Log {
  const line =
    (level: string) =>
    (fields: object, message: string): void =>
      write({ level, ...fields, message });
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}
