// The test bot: a sequence of processes on one disk, with a clock, a platform and people who write.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Arrival } from '../sdk/adapter.ts';
import type { PluginModule } from '../sdk/plugin.ts';
import type { HeaderMap, HttpAnswer, RawRequest } from '../sdk/request.ts';
import { readDuration } from '../sdk/text/duration.ts';
import type { WorkItem } from '../sdk/workroom.ts';
import { BotProcess } from './bot-process.ts';
import type { Killable } from './every-crash.ts';
import { FakePlatform } from './fake-platform.ts';
import { Killed, Life } from './life.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryDisk } from './memory-disk.ts';
import type { Person, ShownMessage, TestBotOptions } from './test-bot.ts';

const START_AT = '2026-01-01T12:00:00Z';
/** Turns of the event loop without any work after which the bot counts as idle. */
const QUIET_TURNS = 6;
/** Set while a handler of that bot runs. A call from inside a handler must not wait for that handler. */
const inside = new AsyncLocalStorage<MemoryBot>();

export class MemoryBot implements Killable {
  readonly points: string[] = [];
  readonly logs: unknown[] = [];
  readonly platform: FakePlatform;
  readonly disk: MemoryDisk;
  readonly #clock: ManualClock;
  readonly #options: TestBotOptions;
  #plugins: Readonly<Record<string, PluginModule>>;
  #config: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly #operators: { readonly endpoint: string; readonly user: string }[] = [];
  #process: BotProcess | undefined;
  #life = new Life();
  #mustDie: (point: string, pass: number) => boolean = () => false;
  #nested = 0;
  #starting: Promise<void> | undefined;
  #deliveries = 0;

  constructor(
    plugins: Readonly<Record<string, PluginModule>>,
    config: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
    options: TestBotOptions,
  ) {
    this.#plugins = plugins;
    this.#config = config;
    this.#options = options;
    this.#clock = new ManualClock(Date.parse(options.startAt ?? START_AT));
    this.platform = new FakePlatform(options.can);
    this.disk = new MemoryDisk(() => this.#clock.now());
  }

  readonly clock = {
    now: (): number => this.#clock.now(),
    advance: async (by: string | number): Promise<void> => {
      const ms = typeof by === 'number' ? by : readDuration(by);
      if (ms === undefined || !(ms >= 0)) throw new Error(`not a duration: ${by}`);
      const until = this.#clock.now() + ms;
      // A running handler may be waiting for this very moment.
      const underWay = this.#running().running;
      for (let next = this.#clock.next(); next !== undefined && next <= until; next = this.#clock.next()) {
        this.#clock.moveTo(next);
        await this.settle(underWay);
      }
      this.#clock.moveTo(until);
      await this.settle(underWay);
    },
  };

  async restart(plugin?: PluginModule): Promise<void> {
    if (plugin !== undefined) {
      const slots = Object.entries(this.#plugins).flatMap(([slot, { name }]) => (name === plugin.name ? [slot] : []));
      const changed = (slots.length > 0 ? slots : [plugin.name]).map((slot) => [slot, plugin] as const);
      this.#plugins = { ...this.#plugins, ...Object.fromEntries(changed) };
    }
    await this.#end();
    await this.#start();
    await this.settle();
  }

  async stop(): Promise<void> {
    await this.#end();
    this.#clock.clear();
    this.disk.close();
  }

  crashAfter(point: string): void {
    this.#mustDie = (name) => {
      if (name !== point) return false;
      this.#mustDie = () => false;
      return true;
    };
  }

  killAt(passes: readonly number[]): void {
    this.#mustDie = (_, pass) => passes.includes(pass);
  }

  person(name: string, { in: room, admin = false }: { readonly in?: string; readonly admin?: boolean } = {}): Person {
    if (admin) this.#operators.push({ endpoint: 'fake', user: name });
    const conversation = { id: room ?? `dm-${name}`, kind: room === undefined ? 'private' : 'group' } as const;
    // An id that no test passes to `arrive`, because a delivery id is handled once.
    const base = (): Pick<Arrival, 'id' | 'conversation' | 'user' | 'sentAt'> => {
      const id = `typed here: ${(this.#deliveries += 1)}`;
      return { id, conversation, user: { id: name, name, admin }, sentAt: this.clock.now() };
    };
    return {
      says: (said, { delivery, addressed = false, replyTo } = {}) => {
        const { id, ...rest } = base();
        const text = typeof said === 'string' ? said : said.segments;
        const message = `in-d${this.#deliveries}`;
        const written = {
          kind: 'message',
          message,
          text,
          addressed,
          ...(replyTo === undefined ? {} : { replyTo }),
        } as const;
        return this.arrive({ ...rest, id: delivery ?? id, ...written });
      },
      presses: async (label) => {
        const shown = this.platform.messages(conversation.id).toReversed();
        const all = shown.flatMap(({ id, buttons }) => buttons.map((button) => ({ ...button, message: id })));
        const found = all.find((button) => button.label.startsWith(label));
        if (found === undefined) {
          const labels = all.map((button) => button.label).join(', ') || 'none';
          throw new Error(`there is no button ${label} in ${conversation.id}: there are ${labels}`);
        }
        await this.arrive({ ...base(), kind: 'pressed', message: found.message, token: found.token });
      },
    };
  }

  async arrive(arrival: Arrival): Promise<void> {
    await this.#ask((process) => process.receive(arrival));
    await this.settle();
  }

  async post(
    path: string,
    { headers = {}, body }: { readonly headers?: HeaderMap; readonly body: string },
  ): Promise<HttpAnswer> {
    const request = {
      method: 'POST',
      path,
      query: {},
      headers: lowerCase(headers),
      body: Buffer.from(body),
      receivedAt: this.clock.now(),
    };
    const answer = await this.#ask((process) => process.deliver(request));
    await this.settle();
    return answer;
  }

  async due(slot: string, cron: string, at: number): Promise<void> {
    await this.#ask((process) => process.due(`root/${slot}#cron/${cron}`, at));
    await this.settle();
  }

  async call(
    capability: string,
    input?: unknown,
    { headers = {}, query = {} }: Partial<Pick<RawRequest, 'headers' | 'query'>> = {},
  ): Promise<unknown> {
    const request = { headers: lowerCase(headers), query };
    const result = await this.#ask((process) => process.call(capability, input, request));
    await this.settle();
    return result;
  }

  help(): string {
    return this.#running().help();
  }

  async metrics(): Promise<Record<string, number>> {
    return this.#ask((process) => process.metrics());
  }

  messages(conversation: string): readonly ShownMessage[] {
    return this.platform
      .messages(conversation)
      .map((message) => ({ ...message, buttons: message.buttons.map(({ label }) => label) }));
  }

  shown(conversation: string): string[] {
    return this.platform.messages(conversation).map(({ text }) => text);
  }

  items(): Promise<readonly WorkItem[]> {
    return this.#ask((process) => process.items());
  }

  dead(): string[] {
    return this.disk.rows<{ id: string }>("SELECT id FROM inbox WHERE state = 'dead' ORDER BY seq").map(({ id }) => id);
  }

  /**
   * Resolves when no work is under way and none can start before the clock moves. Starts the next process after a kill. Does not wait for
   * `underWay` handlers.
   */
  async settle(underWay = 0): Promise<void> {
    const isNested = inside.getStore() === this;
    if (isNested) this.#nested += 1;
    try {
      await this.#ask(() => this.#quiet(() => underWay + (isNested ? this.#nested : 0)));
    } finally {
      if (isNested) this.#nested -= 1;
    }
  }

  /** Waits until the bot is idle, except for `underWay` handlers, which wait for the caller. */
  async #quiet(underWay: () => number): Promise<void> {
    for (let turns = 0, commits = -1; turns < QUIET_TURNS; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#running().isBusy(underWay()) || this.disk.commits !== commits) turns = 0;
      // A timer that is due now fires without advancing the clock, as on a real host.
      if (turns > 0 && (this.#clock.next() ?? Infinity) <= this.#clock.now()) {
        this.#clock.moveTo(this.#clock.now());
        turns = 0;
      }
      commits = this.disk.commits;
    }
  }

  /** Asks the running process. If it is killed meanwhile, asks the next one, as the platform or a client would. */
  async #ask<T>(question: (process: BotProcess) => Promise<T>): Promise<T> {
    for (;;) {
      const life = this.#life;
      try {
        return await Promise.race([question(this.#running()), life.death]);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        // The first caller that notices the kill starts the next process.
        if (life === this.#life) this.#starting = this.#start();
        await this.#starting;
      }
    }
  }

  async #end(): Promise<void> {
    if (!this.#life.isOver) await this.#process?.stop();
    this.#life.kill('stopped');
  }

  #running(): BotProcess {
    if (this.#process === undefined) throw new Error('the bot was not started');
    return this.#process;
  }

  async #start(): Promise<void> {
    for (;;) {
      this.#clock.clear();
      const life = new Life();
      this.#life = life;
      this.#process = this.#makeProcess(life);
      try {
        return await Promise.race([this.#process.start(), life.death]);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
      }
    }
  }

  #makeProcess(life: Life): BotProcess {
    return new BotProcess({
      life,
      disk: this.disk,
      clock: this.#clock,
      platform: this.platform,
      direct: this.#options.direct ?? true,
      files: this.#options.files ?? {},
      modules: this.#plugins,
      config: this.#config,
      operators: this.#operators,
      parts: this.#options.parts ?? {},
      workroom: this.#options.workroom,
      log: (line) => this.logs.push(line),
      around: (handle) => inside.run(this, handle),
      point: (name) => {
        this.points.push(name);
        if (this.#mustDie(name, this.points.length - 1)) life.kill(name);
      },
    });
  }
}

const lowerCase = (headers: HeaderMap): HeaderMap =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
