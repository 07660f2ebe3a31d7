// Owns the serving generation. A start, a reload and a changed configuration follow the same steps: assembled → activated → committed in
// one transaction → serves. Then the old generation drains.
//
//   RUNTIME-1  If a candidate fails at any step, the serving generation stays, and the reason is reported.
//   RUNTIME-2  The number of a generation is stored and only grows. Without a database there is no generation.
//   RUNTIME-3  Assemblies run one after the other. A reload requested meanwhile runs after the current one.
//   RUNTIME-4  Node cannot unload modules. So a reload throws `restart_required` if code differs from the code that this process has loaded
//              or tried to load. That covers the lockfile, packages and, in production, files of the project's plugins. In development,
//              plugins of the project are loaded again.
//
//     subject                            | the serving generation          | the previous one, draining
//     an item or a request to a route    | begins and ends it              | ends its running ones, begins none; cut at its time limit
//     a decision                         | committed, with its number      | committed the same way, with its own number
//     a cut item                         | -                               | its attempt failed: the serving one makes the next attempt
//     accounts, sends, schedules         | all of them                     | none: its answers go out through the accounts of the serving one
//     an unchanged account               | keeps its connection            | handed it over at the commit
//     life after the next commit         | -                               | until its last run ends, at most DRAIN_LIMIT_MS; then resources close
import { withheldVariables } from '../../shared/config/environment.ts';
import { type LoadedConfig, loadConfig } from '../../shared/config/load.ts';
import type { Mode } from '../../shared/config/mode.ts';
import { ERRORS } from '../../shared/error-codes.ts';
import { EXIT } from '../../shared/process/exit-codes.ts';
import { coerceError, SvcError } from '../../shared/svc-error.ts';
import type { Core } from '../core/core.ts';
import { recordEvents } from '../events/event-history.ts';
import type { Logger } from '../sdk/index.ts';
import { type CommittedBy, commitGeneration } from './generations/commit-generation.ts';
import { DRAIN_LIMIT_MS, type FileUrl, Generation } from './generations/generation.ts';
import { changedFixedKeys, restartRequired } from './generations/restart-required.ts';
import { addHiddenPlugin, assemble, type Candidate } from './loading/assemble.ts';
import { foreignCause, presentable } from './loading/assembly-errors.ts';
import { LoadedCode } from './loading/loaded-code.ts';

export interface RuntimeOptions {
  readonly core: Core;
  readonly project: string;
  readonly mode: Mode;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly lockfile: string;
  readonly logger: (slot: string) => Logger;
  readonly parts: (generation: Generation) => Readonly<Record<string, unknown>>;
  readonly partNames: (config: LoadedConfig['config']) => readonly string[];
  /** Called when a new generation serves, so that accounts, schedules and settings follow. */
  readonly serving: (generation: Generation) => Promise<void>;
  /** Gets the secrets of a configuration before any of it is used. */
  readonly secrets: (texts: readonly string[]) => void;
  readonly fileUrl?: FileUrl;
  readonly modules?: Readonly<Record<string, unknown>>;
  readonly lifeLimitMs?: number;
}

/** The configuration with which the next process would start. */
export interface NextStart {
  readonly configVersion: string;
  /** The configuration, or a file that this process has loaded, has changed. */
  readonly isChanged: boolean;
}

export interface ReloadAs extends Pick<CommittedBy, 'keep'> {
  readonly isMeant?: () => boolean;
}

const WITHHELD =
  'secrets came in the environment of this process: child processes do not get them, /proc shows them to this user and root';

interface ReplacedBy extends CommittedBy {
  readonly assembled?: Promise<Candidate> | undefined;
}

export class Runtime {
  readonly #options: RuntimeOptions;
  #current: Generation | undefined;
  readonly #draining = new Set<Generation>();
  #queue: Promise<unknown> = Promise.resolve();
  #loaded: LoadedConfig;
  readonly #code = new LoadedCode();
  /** First paths of the modules that each candidate has loaded. */
  readonly #modules = new WeakMap<Candidate, readonly string[]>();
  #lastFailure: SvcError | undefined;
  /** Names of variables that were already reported. */
  readonly #told = new Set<string>();
  /** Plugins of the host by slot, which no configuration names. Every generation has them. */
  readonly #hidden = new Map<string, unknown>();

  constructor(options: RuntimeOptions, loaded: LoadedConfig) {
    this.#options = options;
    this.#loaded = loaded;
  }

  get current(): Generation | undefined {
    return this.#current;
  }
  get draining(): readonly Generation[] {
    return [...this.#draining];
  }
  /** Why the last candidate was not committed; undefined after a success. */
  get lastFailure(): SvcError | undefined {
    return this.#lastFailure;
  }
  /** The serving configuration, or that of the start while nothing serves. */
  get loaded(): LoadedConfig {
    return this.#loaded;
  }

  /** Assembles the first candidate, with the configuration of the process start. Pass the result to `start`. */
  assembleFirst(): Promise<Candidate> {
    this.#options.secrets(this.#loaded.secrets);
    return this.#assemble(this.#loaded);
  }

  /** Starts the first generation, from `first` or a candidate of its own. */
  start(first?: Promise<Candidate>): Promise<Generation> {
    return this.#inTurn(() => this.#replace(this.#loaded, { actor: 'start', assembled: first }));
  }

  /**
   * Throws SvcError `restart_required` (list in `details.files`), `reload_refused`, or `precondition_failed` if `isMeant` returns false.
   * After an error the old generation stays. The commit stores the rows that `keep` returns.
   */
  reload(actor: string, { isMeant, keep }: ReloadAs = {}): Promise<Generation> {
    return this.#inTurn(async () => {
      if (isMeant?.() === false) throw new SvcError('precondition_failed', 'another generation serves by now');
      const loaded = this.#read();
      this.#refuseWhatNeedsRestart(loaded);
      return this.#replace(loaded, { actor, keep });
    });
  }

  /**
   * Checks if the next process would accept the current configuration. Throws `config_invalid`, `secret_invalid`.
   * Plugin keys are checked only while plugin code is unchanged, because newer code may know other keys. No plugin is set up.
   */
  checkNext(): Promise<NextStart> {
    return this.#inTurn(async () => {
      const loaded = this.#read();
      if (this.changedFiles().length > 0) return { configVersion: loaded.version, isChanged: true };
      try {
        this.#options.secrets(loaded.secrets);
        (await this.#assemble(loaded, { keysOnly: true })).abort.abort();
      } catch (error) {
        const known = coerceError(error);
        if (known.code === 'restart_required') return { configVersion: loaded.version, isChanged: true };
        if (ERRORS[known.code].exit === EXIT.config) throw this.#refused(known); // other errors end no process
      }
      return { configVersion: loaded.version, isChanged: loaded.version !== this.loaded.version };
    });
  }

  /** Adds a plugin of the host to the serving generation and to all that follow. A second call changes nothing. */
  addHidden(slot: string, load: () => Promise<unknown>): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#hidden.has(slot)) return;
      this.#hidden.set(slot, await load());
      if (this.#current !== undefined) await this.#addHidden(this.#current.candidate);
    });
  }

  async #addHidden(candidate: Candidate): Promise<void> {
    for (const [slot, module] of this.#hidden)
      await addHiddenPlugin(candidate, { slot, module, log: this.#options.logger(slot) });
  }

  /** Changed files of the serving generation that a reload cannot apply. */
  changedFiles(): readonly string[] {
    const { candidate } = this.#current ?? {};
    return this.#code.changed((candidate && this.#modules.get(candidate)) ?? []);
  }

  async stop(): Promise<void> {
    await this.#queue.catch(() => {});
    for (const generation of [...this.#draining, ...(this.#current === undefined ? [] : [this.#current])])
      await generation.dispose();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#queue.catch(() => {}).then(work);
    this.#queue = next.catch(() => {});
    return next;
  }

  #read(): LoadedConfig {
    const { project, mode, environment } = this.#options;
    try {
      return loadConfig({ project, mode, environment });
    } catch (error) {
      throw this.#refused(coerceError(error));
    }
  }

  #refuseWhatNeedsRestart(loaded: LoadedConfig): void {
    const files = this.changedFiles();
    const keys = changedFixedKeys(loaded.config, this.#loaded.config);
    if (files.length === 0 && keys.length === 0) return;
    throw restartRequired(this.#options.project, files, keys);
  }

  async #replace(loaded: LoadedConfig, { assembled, ...by }: ReplacedBy): Promise<Generation> {
    const { core } = this.#options;
    let generation: Generation | undefined;
    try {
      this.#options.secrets(loaded.secrets);
      const candidate = await (assembled ?? this.#assemble(loaded));
      await this.#addHidden(candidate);
      generation = new Generation(candidate, {
        core,
        loaded,
        lifeLimitMs: this.#options.lifeLimitMs ?? DRAIN_LIMIT_MS,
        parts: this.#options.parts,
        ...(this.#options.fileUrl === undefined ? {} : { fileUrl: this.#options.fileUrl }),
      });
      await generation.activate();
      await this.#commit(generation, by);
    } catch (error) {
      if (generation?.state === 'active') await generation.discard();
      throw this.#refused(coerceError(error));
    }
    const before = this.#current;
    this.#current = generation;
    this.#loaded = loaded;
    this.#lastFailure = undefined;
    try {
      await this.#options.serving(generation);
    } catch (error) {
      core.log.error({ generation: generation.number, err: error }, 'generation serves, but not all of it'); // the generation is committed and stays
    }
    if (before !== undefined) this.#drain(before);
    return generation;
  }

  async #assemble(loaded: LoadedConfig, only: { readonly keysOnly?: true } = {}): Promise<Candidate> {
    const { project, mode, logger, partNames, modules } = this.#options;
    const loads: string[] = [];
    const stale: string[] = [];
    const loading = (paths: readonly string[]): void => {
      loads.push(...paths.slice(0, 1));
      stale.push(...this.#code.load(paths));
    };
    loading([this.#options.lockfile]);
    const assembled = assemble({
      project,
      mode,
      loaded,
      logger,
      parts: partNames(loaded.config),
      secrets: this.#options.secrets,
      loading,
      warned: (warning) => this.#options.core.log.warn({ warning }, 'configuration warning'),
      ...only,
      ...(modules === undefined ? {} : { modules }),
    });
    const [end] = await Promise.allSettled([assembled]);
    // The module would run, or has failed, with the code that this process loaded earlier.
    if (stale.length > 0) {
      if (end.status === 'fulfilled') end.value.abort.abort();
      throw restartRequired(project, [...new Set(stale)], []);
    }
    const candidate = await assembled;
    this.#modules.set(candidate, loads);
    this.#tellWithheld();
    return candidate;
  }

  /** Secrets stay visible in /proc, because a process cannot erase the initial environment from the kernel's copy. */
  #tellWithheld(): void {
    const variables = withheldVariables().filter((name) => !this.#told.has(name));
    if (variables.length === 0) return;
    for (const name of variables) this.#told.add(name);
    this.#options.core.log.info({ variables, remedy: 'set them in .env alone' }, WITHHELD);
  }

  async #commit(generation: Generation, by: CommittedBy): Promise<void> {
    const { core } = this.#options;
    const previous = this.#current?.number ?? null;
    const number = await commitGeneration(core, generation, { ...by, previous });
    generation.committed(number);
    core.log.info({ generation: number, previous }, 'generation committed');
  }

  #drain(generation: Generation): void {
    const { core } = this.#options;
    this.#draining.add(generation);
    generation.supersede(({ cut }) => {
      this.#draining.delete(generation);
      const data = { number: generation.number, servedMs: generation.servedMs, cut };
      core.log.info({ generation: generation.number, cut }, 'generation retired');
      const event = {
        type: 'generation.retired',
        at: core.clock.now(),
        runtimeId: core.runtimeId,
        generation: generation.number,
        data,
      } as const;
      // best effort: at a stop the store may be closed, and then the retirement needs no record
      core.writer.commit({ name: 'generation.retired', statements: recordEvents([event]) }).catch(() => {});
    });
  }

  #refused(cause: SvcError): SvcError {
    const { core } = this.#options;
    const error = presentable(core, cause);
    this.#lastFailure = error;
    core.log.error(
      { code: error.code, reason: error.message, serving: this.#current?.number, err: foreignCause(cause) },
      'generation not committed',
    );
    const plugin = typeof error.details['plugin'] === 'string' ? error.details['plugin'] : null;
    const data = {
      number: null,
      serving: this.#current?.number ?? null,
      plugin,
      code: error.code,
      reason: error.message,
    };
    const event = { type: 'generation.failed', at: core.clock.now(), runtimeId: core.runtimeId, data } as const;
    core.writer.commit({ name: 'generation.failed', statements: recordEvents([event]) }).catch(() => {}); // without a store, the log has the failure
    return error;
  }
}
