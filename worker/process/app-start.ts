// Takes a worker from its environment to its app. A spare worker prepares both ahead; its app touches nothing before its turn.
//
//   START-1  A prepared app is used only if configuration and environment are unchanged. Otherwise the start begins anew.
//   START-2  An error of the preparation (an invalid configuration) is reported by the start itself, if its turn comes.

import { readSmallFile } from '../../shared/config/checks/small-file.ts';
import type { Environment } from '../../shared/config/environment.ts';
import { type LoadedConfig, loadConfig } from '../../shared/config/load.ts';
import { projectPaths } from '../../shared/files/paths.ts';
import type { App, AppOptions } from '../host/app-options.ts';
import type { WorkerOptions } from './worker-options.ts';

/** Values that are known only at the worker's turn. */
type Turn = Pick<AppOptions, 'previous' | 'listenHandle'>;
type AppFacts = Omit<AppOptions, 'loaded' | 'environment' | 'writerThread' | keyof Turn>;

interface Prepared {
  readonly texts: string;
  readonly loaded: LoadedConfig;
  begin(turn: Turn): App;
}

export class AppStart {
  readonly #facts: AppFacts;
  readonly #createApp: WorkerOptions['createApp'];
  #environment: Environment = {};
  #prepared: Promise<Prepared | undefined> | undefined;

  constructor(facts: AppFacts, createApp: WorkerOptions['createApp']) {
    this.#facts = facts;
    this.#createApp = createApp;
  }

  /** Resolves when the preparation has ended, even if it failed. */
  prepare(environment: Environment): Promise<unknown> {
    this.#prepared = this.#ahead(environment).catch(() => undefined);
    return this.#prepared;
  }

  /** Resolves with the configuration of this start. Throws SvcError `config_invalid`, `secret_invalid`. */
  async read(environment: Environment): Promise<LoadedConfig> {
    this.#environment = environment;
    const prepared = await this.#prepared;
    if (prepared !== undefined && prepared.texts === this.#texts(environment)) return prepared.loaded;
    this.#prepared = undefined;
    return this.readAgain();
  }

  /** Reads the configuration again. Throws as `read` does. */
  readAgain(): LoadedConfig {
    const { project, mode } = this.#facts;
    return loadConfig({ project, mode, environment: this.#environment });
  }

  async begin(loaded: LoadedConfig, turn: Turn): Promise<App> {
    const prepared = await this.#prepared;
    return prepared?.begin(turn) ?? this.#make(this.#environment, loaded, turn);
  }

  async #ahead(environment: Environment): Promise<Prepared> {
    const { project, mode } = this.#facts;
    const texts = this.#texts(environment);
    const loaded = loadConfig({ project, mode, environment });
    this.#facts.log.secrets.add(loaded.secrets);
    const { host, port } = loaded.config.http;
    let begin = (_: Turn): void => {};
    const turn = new Promise<Turn>((resolve) => {
      begin = resolve;
    });
    const app = await this.#make(environment, loaded, {
      previous: turn.then(({ previous }) => previous),
      listenHandle: turn.then(({ listenHandle }) => listenHandle ?? { host, port }),
    });
    return {
      texts,
      loaded,
      begin(come) {
        begin(come);
        return app;
      },
    };
  }

  #make(environment: Environment, loaded: LoadedConfig, turn: Turn): App | Promise<App> {
    return this.#createApp({ ...this.#facts, environment, loaded, ...turn });
  }

  /** Every input of a configuration as one text, to detect a change. */
  #texts(environment: Environment): string {
    const { config, env, packageJson } = projectPaths(this.#facts.project);
    return JSON.stringify([environment, ...[config, env, packageJson].map((path) => readSmallFile(path))]);
  }
}
