// Which generation serves, and how the next one takes over. Start, reload and a change of configuration are one thing:
// assembled aside → activated → committed in one unit → serves; the old one drains.
//
//   R1  A candidate that fails at any step leaves the serving generation serving, and says why.
//   R2  The number is stored and only grows; without a database there is no generation.
//   R3  Assemblies run one after the other; a reload that is asked for meanwhile runs after the one under way.
//   R4  Modules cannot be unloaded: the lockfile, packages, and in production the files of the project's plugins, refuse a reload
//       once they differ from what this process has loaded, or tried to (`restart_required`). In development plugins of the project are loaded anew.
//
//   what                               | the serving generation          | the one before it, draining
//   an item or a request to a route    | begins and ends it              | ends what it has begun, begins nothing; cut at its life limit
//   what was decided                   | committed, with its number      | committed the same way, with its own number
//   a cut item                         | -                               | its attempt failed: the serving one makes the next attempt
//   accounts, sends, schedules         | all of them                     | none: its answers go out through the accounts of the serving one
//   an unchanged account               | keeps its connection            | gave it away at the commit
//   life after the commit of the next  | -                               | until its last run ends, at most DRAIN_LIMIT_MS; then its signal aborts and its resources close
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
import { assemble, type Candidate } from './loading/assemble.ts';
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
  readonly partNames: readonly string[];
  /** The new generation serves: accounts, schedules and settings follow. */
  readonly serving: (generation: Generation) => Promise<void>;
  /** Secrets of a configuration, before anything of it is used. */
  readonly secrets: (texts: readonly string[]) => void;
  readonly fileUrl?: FileUrl;
  readonly modules?: Readonly<Record<string, unknown>>;
  readonly lifeLimitMs?: number;
}

/** What the process after this one would start with. */
export interface NextStart {
  readonly configVersion: string;
  /** The configuration, or a file that this process has loaded, is another by now. */
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
  /** Of each candidate, as they are known there. */
  readonly #modules = new WeakMap<Candidate, readonly string[]>();
  #lastFailure: SvcError | undefined;
  /** Variables that were told about. */
  readonly #told = new Set<string>();

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
  /** The configuration that serves, or the one of the start before anything does. */
  get loaded(): LoadedConfig {
    return this.#loaded;
  }

  /** Assembles the first candidate, with the configuration that the process was started with; for `start`. */
  assembleFirst(): Promise<Candidate> {
    this.#options.secrets(this.#loaded.secrets);
    return this.#assemble(this.#loaded);
  }

  /** The first generation: of the candidate that was assembled meanwhile, or of one of its own. */
  start(first?: Promise<Candidate>): Promise<Generation> {
    return this.#inTurn(() => this.#replace(this.#loaded, { actor: 'start', assembled: first }));
  }

  /**
   * Throws SvcError `restart_required` (with the list in `details.files`), `reload_refused`, or `precondition_failed` where `isMeant` says no
   * when its turn has come; the old generation stays. The commit stores what `keep` gives.
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
   * Whether the process after this one would take the configuration as it is now. Throws `config_invalid`, `secret_invalid`. Keys of plugins are
   * judged only while their code is what this process has loaded: newer code may know others. No plugin is set up for it.
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
        if (ERRORS[known.code].exit === EXIT.config) throw this.#refused(known); // anything else ends no process
      }
      return { configVersion: loaded.version, isChanged: loaded.version !== this.loaded.version };
    });
  }

  /** Of the serving generation, what a reload cannot take in; empty when nothing. */
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
      core.log.error({ generation: generation.number, err: error }, 'generation serves, but not all of it'); // it is committed
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
      parts: partNames,
      secrets: this.#options.secrets,
      loading,
      warned: (warning) => this.#options.core.log.warn({ warning }, 'configuration warning'),
      ...only,
      ...(modules === undefined ? {} : { modules }),
    });
    const [end] = await Promise.allSettled([assembled]);
    // It would run, or has failed, with code as it was when this process loaded it.
    if (stale.length > 0) {
      if (end.status === 'fulfilled') end.value.abort.abort();
      throw restartRequired(project, [...new Set(stale)], []);
    }
    const candidate = await assembled;
    this.#modules.set(candidate, loads);
    this.#tellWithheld();
    return candidate;
  }

  /** A process cannot take its first environment back from the kernel. */
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
      // Best effort: at a stop the store may be closed already, and the retirement needs no record then.
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
    core.writer.commit({ name: 'generation.failed', statements: recordEvents([event]) }).catch(() => {}); // without a store the log has it
    return error;
  }
}
