// An engine on a real SQLite file in a temporary project, with plugins given as modules, a platform in memory and a clock that the
// test moves. A second host on the same project is a restart.
import '../../../shared/process/failpoints.ts';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { loadConfig } from '../../../shared/config/load.ts';
import type { Mode } from '../../../shared/config/mode.ts';
import { newRuntimeId, type ProjectId } from '../../../shared/identifiers.ts';
import type { Core } from '../../../worker/core/core.ts';
import { loadProjectState } from '../../../worker/database/project-state.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import type { Statement } from '../../../worker/database/unit.ts';
import { GroupingWriter, inlineRunner } from '../../../worker/database/writer.ts';
import { Engine } from '../../../worker/engine/engine.ts';
import type { EngineOptions } from '../../../worker/engine/engine-options.ts';
import { timesFor } from '../../../worker/handling/plan/time-words.ts';
import { t } from '../../../worker/sdk/index.ts';
import { ManualClock } from '../../../worker/testing/manual-clock.ts';
import { MemoryPlatform } from '../accounts/memory-platform.ts';
import { type TemporaryProject, type TemporaryProjectOptions, temporaryProject } from '../temporary-project.ts';
import { until } from '../until.ts';

export const START_AT = Date.parse('2026-01-01T12:00:00Z');
const QUIET_TURNS = 8;

export interface HostOptions {
  /** By slot; `memory` is the platform. */
  readonly modules?: Readonly<Record<string, unknown>>;
  readonly platform?: MemoryPlatform;
  readonly clock?: ManualClock;
  readonly project?: TemporaryProject;
  /** Top-level keys of the configuration; `plugins` are added to the slots of the modules. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly mode?: Mode;
  readonly engine?: Partial<EngineOptions>;
  /** What the host adds to the engine, between the reading of the stored state and the start. */
  readonly beforeStart?: (host: EngineHost) => Promise<void>;
  readonly point?: (name: string, host: EngineHost) => void | Promise<void>;
  /** False while work of `beforeStart` is under way that no commit tells of. */
  readonly isIdle?: () => boolean;
  /** Files of the project; see `TemporaryProjectOptions.plugins`. */
  readonly plugins?: NonNullable<TemporaryProjectOptions['plugins']>;
}

/** True while a file is read, written or closed, or a library is loaded. */
const waitsForDisk = (): boolean => process.getActiveResourcesInfo().some((name) => /^(FSReq|CloseReq)/.test(name));

/** A loader of sources waits in a thread of its own, of which nothing is seen: the first handler with a time among its arguments loads a library. */
const wordsLoaded = async (): Promise<void> => void (await timesFor([t.when()], { now: START_AT, timezone: 'UTC' }));

interface Test {
  after(run: () => void | Promise<void>): void;
}

export async function engineHost(test: Test, options: HostOptions = {}): Promise<EngineHost> {
  const project =
    options.project ?? temporaryProject(test, options.plugins === undefined ? {} : { plugins: options.plugins });
  const host = new EngineHost(project, options);
  test.after(() => host.stop());
  await host.start();
  return host;
}

export class EngineHost {
  readonly project: TemporaryProject;
  readonly platform: MemoryPlatform;
  readonly clock: ManualClock;
  readonly core: Core;
  readonly engine: Engine;
  readonly logs: {
    readonly level: string;
    readonly message: string;
    readonly fields: Readonly<Record<string, unknown>>;
  }[] = [];
  readonly modules: Record<string, unknown>;
  readonly #options: HostOptions;
  readonly #writerCore: WriterCore;
  readonly #reader: SqliteReader;
  commits = 0;
  #stopped = false;

  constructor(project: TemporaryProject, options: HostOptions) {
    this.project = project;
    this.#options = options;
    this.platform = options.platform ?? new MemoryPlatform();
    this.clock = options.clock ?? new ManualClock(START_AT);
    this.modules = { memory: this.platform.adapter, ...options.modules };
    this.configure(options.config ?? {});
    const file = join(project.path, '.svc', 'data.sqlite');
    mkdirSync(dirname(file), { recursive: true });
    this.#writerCore = new WriterCore({ file, now: () => this.clock.now() });
    this.#reader = new SqliteReader(() => openReadOnly(file));
    this.core = this.#makeCore();
    const mode = options.mode ?? 'test';
    this.engine = new Engine({
      core: this.core,
      project: project.path,
      mode,
      environment: project.env,
      loaded: loadConfig({ project: project.path, mode, environment: project.env }),
      lockfile: project.paths.lockfile,
      mediaFolder: project.paths.mediaDir,
      observer: {},
      admit: () => {},
      modules: this.modules,
      random: () => 0.5,
      ...options.engine,
    });
  }

  /** Writes the configuration; a slot for each module unless it is named. */
  configure(config: Readonly<Record<string, unknown>>): void {
    const slots = Object.fromEntries(
      Object.keys(this.modules).map((slot) => [slot, slot === 'memory' ? { endpoints: [{ id: 'a' }] } : {}]),
    );
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    const base = { host: { name: 'test' }, http: { port: 0, token: '${HTTP_TOKEN}' } };
    this.project.write(
      'svc.config.yml',
      stringify({ ...base, ...config, plugins: { ...slots, ...(config['plugins'] as object | undefined) } }),
    );
  }

  /** `before`: what is stored before anything is read. */
  async start(before: readonly Statement[] = []): Promise<void> {
    await wordsLoaded();
    this.#writerCore.open();
    if (before.length > 0) await this.core.writer.commit({ name: 'before', statements: before });
    const state = await loadProjectState(this.core.writer, this.core.reader);
    (this.core as { projectId: ProjectId }).projectId = state.projectId;
    await this.engine.load();
    await this.#options.beforeStart?.(this);
    await this.engine.start();
    await this.quiet();
  }

  /** Ends the engine as a stop of the process does. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    let isOver = false;
    const stopped = this.engine
      .stop(() => 50)
      .finally(() => {
        isOver = true;
      });
    // Its limits pass only when nothing more happens by itself, however slow the machine is.
    for (;;) {
      await this.quiet();
      if (isOver) break;
      this.clock.moveTo(this.clock.now() + 50);
    }
    await stopped;
    this.close();
  }

  /** The process is gone: nothing more is written, as after a kill. */
  kill(): void {
    this.#stopped = true;
    this.clock.clear();
    this.close();
  }

  close(): void {
    this.#reader.close();
    this.#writerCore.close();
    this.#dead = true;
  }
  #dead = false;

  /** The next process on the same project, platform and clock. */
  async restart(test: Test, options: Partial<HostOptions> = {}): Promise<EngineHost> {
    if (!this.#stopped) await this.stop();
    this.clock.clear();
    return engineHost(test, {
      ...this.#options,
      project: this.project,
      platform: this.platform,
      clock: this.clock,
      ...options,
    });
  }

  /** Resolves when nothing happens any more before the clock moves, and nobody waits for the disk. Handlers that wait for the test do not count. */
  async quiet(): Promise<void> {
    for (let turns = 0, commits = -1; turns < QUIET_TURNS && !this.#dead; turns += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      const isBusy = !this.engine.timers.idle || this.#options.isIdle?.() === false || waitsForDisk();
      if (this.commits !== commits || isBusy) turns = 0;
      commits = this.commits;
    }
  }

  /** Moves the clock over each timer on the way. */
  async advance(ms: number): Promise<void> {
    const end = this.clock.now() + ms;
    await this.quiet();
    for (let next = this.clock.next(); next !== undefined && next <= end; next = this.clock.next()) {
      this.clock.moveTo(next);
      await this.quiet();
    }
    this.clock.moveTo(end);
    await this.quiet();
  }

  rows<T = Record<string, unknown>>(text: string, ...parameters: unknown[]): T[] {
    return this.#reader.run<T>(text, parameters);
  }

  write(text: string, ...parameters: unknown[]): Promise<unknown> {
    return this.core.writer.commit({ name: 'test', statements: [{ sql: text, parameters }] });
  }

  states(table: 'inbox' | 'outbox'): string[] {
    return this.rows<{ state: string }>(`SELECT state FROM ${table} ORDER BY seq`).map(({ state }) => state);
  }

  events(type?: string): { seq: number; type: string; endpoint: string | null; data: Record<string, unknown> }[] {
    return this.rows<{ seq: number; type: string; endpoint: string | null; data: string }>(
      'SELECT seq, type, endpoint, data FROM event_log ORDER BY seq',
    )
      .filter((row) => type === undefined || row.type === type)
      .map((row) => ({ ...row, data: JSON.parse(row.data) as Record<string, unknown> }));
  }

  /** Waits for a condition in real time; for what runs in threads or on sockets. */
  until(what: string, condition: () => unknown): Promise<unknown> {
    return until(async () => (condition() ? true : undefined), { what });
  }

  #makeCore(): Core {
    const inner = inlineRunner(this.#writerCore);
    const writer = new GroupingWriter({
      ...inner,
      run: (units) => {
        if (this.#dead) return Promise.reject(new Error('the process is gone'));
        this.commits += 1;
        return inner.run(units);
      },
    });
    const line = (level: string) => (fields: object, message: string) =>
      void this.logs.push({ level, message, fields: fields as Record<string, unknown> });
    const log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
    return {
      runtimeId: newRuntimeId(),
      projectId: '' as ProjectId,
      clock: this.clock,
      writer,
      reader: this.#reader,
      log,
      point: async (name) => this.#options.point?.(name, this),
    };
  }
}
