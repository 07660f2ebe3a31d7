// One process of a test bot: the worker's own inbox, handlers, outbox and timer over a disk in memory, with a fake platform as its
// one endpoint. What is left out is HTTP, the writer's thread and the connection to a platform.
import '../../failpoints.ts';
import { newProjectId, newRuntimeId } from '../../../shared/identifiers.ts';
import type { Core } from '../../core.ts';
import { handleItem, type HandlingDeps } from '../../handling/handle-item.ts';
import { createDispatcher } from '../../inbox/dispatcher.ts';
import { Inbox, type Delivery } from '../../inbox/inbox.ts';
import type { ItemHead } from '../../inbox/inbox-store.ts';
import type { LaneRunner } from '../../lanes/lane-runner.ts';
import type { SendHead } from '../../outbox/outbox-store.ts';
import { createSender } from '../../outbox/sender.ts';
import { assemble } from '../../runtime/assemble.ts';
import { Generation } from '../../runtime/generation.ts';
import { takeDue, type DueRow } from '../../schedule/due-store.ts';
import { TimerService } from '../../schedule/timer-service.ts';
import { defineAdapter } from '../adapter.ts';
import type { Logger } from '../handler-context.ts';
import type { PluginModule } from '../plugin.ts';
import type { FakePlatform } from './fake-platform.ts';
import type { Life } from './life.ts';
import type { ManualClock } from './manual-clock.ts';
import type { MemoryDisk } from './memory-disk.ts';
import { testConfig } from './test-config.ts';

/** The slot of the fake platform; its endpoint answers to the short name `fake`. */
export const FAKE = 'fake';
export const FAKE_ENDPOINT = `root/${FAKE}:${FAKE}`;

export interface ProcessOptions {
  readonly life: Life;
  readonly disk: MemoryDisk;
  readonly clock: ManualClock;
  readonly platform: FakePlatform;
  readonly plugins: Readonly<Record<string, PluginModule>>;
  readonly config: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly parts: Readonly<Record<string, unknown>>;
  readonly log: (line: unknown) => void;
  readonly point: (name: string) => void | Promise<void>;
  /** Around each run of a handler. */
  readonly inside: <T>(run: () => Promise<T>) => Promise<T>;
}

const LIMITS = { concurrency: 64, endpointConcurrency: 64 };
const NO_BOUND = { maxPending: 1_000_000, maxPendingBytes: 1_000_000_000 };
const POLICY = { maxAttempts: 8, onUnknown: 'resend' } as const;
const MAX_ATTEMPTS = 5;

export class BotProcess {
  readonly core: Core;
  readonly inbox: Inbox;
  readonly handling: HandlingDeps;
  readonly #options: ProcessOptions;
  readonly #dispatcher: LaneRunner<ItemHead>;
  readonly #sender: LaneRunner<SendHead>;
  readonly #timer: TimerService;
  #generation: Generation | undefined;

  constructor(options: ProcessOptions) {
    const { life, disk, platform, inside } = options;
    this.#options = options;
    this.core = {
      runtimeId: newRuntimeId(),
      projectId: newProjectId(),
      clock: life.clock(options.clock),
      writer: disk.writer(life),
      reader: disk.reader(life),
      log: this.#logger({}),
      point: (name) => life.guard(() => options.point(name)),
    };
    this.inbox = new Inbox(this.core, () => NO_BOUND);
    this.handling = this.#handlingDeps();
    this.#timer = new TimerService(this.core);
    this.#dispatcher = createDispatcher({
      core: this.core,
      limits: () => LIMITS,
      held: () => this.#generation === undefined,
      handle: (row) => inside(() => handleItem(this.handling, this.generation, row)),
      left: () => {},
    });
    this.#sender = createSender({
      core: this.core,
      limits: () => LIMITS,
      policy: () => POLICY,
      due: (at) => this.#timer.expect(at),
      surface: (endpoint) =>
        endpoint === FAKE_ENDPOINT
          ? { kind: 'ready', surface: { can: platform.can, rate: undefined, send: (call) => life.guard(() => platform.send(call)), accountFailed: () => {} } }
          : { kind: 'missing' },
    });
  }

  get generation(): Generation {
    if (this.#generation === undefined) throw new Error('the bot was not started');
    return this.#generation;
  }

  /** Assembles, opens resources, and takes up what the disk has. */
  async start(): Promise<void> {
    const { plugins, config, parts } = this.#options;
    const modules = { [FAKE]: this.#adapter(), ...plugins };
    const loaded = testConfig({ modules, config });
    const candidate = await assemble({ loaded, modules, project: '/', mode: 'test', parts: Object.keys(parts), logger: (slot) => this.#logger({ slot }) });
    const generation = new Generation(candidate, { core: this.core, loaded, lifeLimitMs: 1_000, parts: () => parts });
    await generation.activate();
    generation.committed(1);
    this.#generation = generation;
    await this.inbox.load();
    this.inbox.onItem(() => this.#dispatcher.wake());
    this.#timer.on('task', (row) => this.#fireTask(row));
    this.#timer.on('inbox', (row) => this.#fireRetry(row, this.#dispatcher));
    this.#timer.on('outbox', (row) => this.#fireRetry(row, this.#sender));
    this.#timer.start();
    this.#dispatcher.start();
    this.#sender.start();
  }

  accept(delivery: Delivery): Promise<{ readonly fresh: readonly string[] }> {
    return this.#options.life.guard(() => this.inbox.accept([delivery]));
  }

  /** How much is being done now; `inside` handlers wait for the test and do not count. */
  busy(inside: number): boolean {
    return this.#dispatcher.running > inside || this.#sender.running > 0 || !this.#timer.idle;
  }

  async stop(): Promise<void> {
    await this.#dispatcher.stop(0);
    await this.#sender.stop(0);
    await this.#timer.stop();
    await this.#generation?.dispose();
  }

  #handlingDeps(): HandlingDeps {
    const { life, disk, platform } = this.#options;
    const nothing = (): void => {};
    return {
      core: this.core,
      context: {
        core: this.core,
        files: disk.files(life),
        logger: (capability) => this.#logger({ slot: capability.slot, capability: capability.id }),
        typing: (_endpoint, { id }) => void life.guard(() => platform.send({ kind: 'typing', key: '', conversation: id })),
      },
      maxAttempts: () => MAX_ATTEMPTS,
      after: { sends: () => this.#sender.wake(), due: (at) => this.#timer.expect(at), counts: nothing, failed: nothing, handled: nothing },
    };
  }

  async #fireTask(row: DueRow): Promise<void> {
    const { statements, stored } = this.inbox.statementsFor({
      endpoint: row.capability ?? '',
      deliveryId: `${row.id}@${row.at}`,
      payload: { kind: 'task', data: JSON.parse(row.data) as unknown },
      lane: row.lane ?? row.id,
      ...(row.capability === null ? {} : { capability: row.capability }),
    });
    const answer = await this.core.writer.commit({ name: 'task.due', statements: [takeDue({ id: row.id, at: row.at }), ...statements] });
    if (answer.kind === 'refused') return;
    stored();
    this.#dispatcher.wake();
  }

  async #fireRetry(row: DueRow, runner: { release(lane: string): void }): Promise<void> {
    await this.core.writer.commit({ name: 'retry.due', statements: [takeDue({ id: row.id, at: row.at })] });
    runner.release(row.lane ?? '');
  }

  #adapter(): PluginModule {
    const { platform } = this.#options;
    return defineAdapter({ name: FAKE, account: {}, can: platform.can, connect: async () => {}, send: platform.send });
  }

  #logger(ids: object): Logger {
    const { log } = this.#options;
    const line =
      (level: string) =>
      (fields: object | string, message?: string): void =>
        log({ level, ...ids, ...(typeof fields === 'string' ? { message: fields } : { ...fields, message }) });
    return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  }
}
