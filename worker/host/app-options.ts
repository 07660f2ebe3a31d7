// The interface between a worker process and the host: the options of an app, and the app.

import type { Server } from 'node:http';
import type { Cut } from '../../shared/api/control.ts';
import type { PreviousEnd } from '../../shared/api/ipc.ts';
import type { LoadedConfig } from '../../shared/config/load.ts';
import type { Mode } from '../../shared/config/mode.ts';
import type { RuntimeId } from '../../shared/identifiers.ts';
import type { Log } from '../../shared/log/logger.ts';
import type { ExitCode } from '../../shared/process/exit-codes.ts';
import type { WriterThread } from '../database/sqlite/start-thread.ts';
import type { RestartOwner } from '../database/writer-lock.ts';
import type { NextGeneration, ReloadOptions } from '../http/api/system-api.ts';
import type { OperatorApi } from './operator-api.ts';

export interface AppOptions {
  /** Made by the process before anything else, so that its first log line carries it. */
  readonly runtimeId: RuntimeId;
  /** The process's log. The app adds the secrets of each configuration to `log.secrets` and sets the level. */
  readonly log: Log;
  /** The configuration of this start, if the process has read it already. */
  readonly loaded?: LoadedConfig;
  readonly project: string;
  readonly mode: Mode;
  readonly watch: boolean;
  readonly owner: RestartOwner;
  /**
   * How the previous process ended, for the ledger of starts. A spare worker passes a promise; the app touches nothing before it resolves.
   */
  readonly previous: PreviousEnd | Promise<PreviousEnd>;
  /** The process environment. Under a supervisor it includes the secrets received over IPC. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A socket of the owner for `server.listen`, perhaps still on its way. Left out: the app binds http.host and http.port. */
  readonly listenHandle?: object | Promise<object>;
  /** The writer thread, running or to be started once the host is up. Left out: the app starts one. */
  readonly writerThread?: WriterThread | Promise<WriterThread>;
  /** A reload begins, or has ended with success or failure. */
  onReload?(phase: 'begun' | 'ended'): void;
  /** Drains and ends this process. Codes: 51 restart requested, 75 restart required, 0 another process has taken over. */
  requestExit(code: 0 | 51 | 75, reason: string): void;
}

/** The requested exit code and its reason. */
export interface StopCause {
  readonly code: ExitCode;
  readonly reason: string;
}

/** The server listens from the beginning. `up` resolves once the first assembly has succeeded or failed. */
export interface App {
  readonly runtimeId: string;
  readonly up: Promise<void>;
  readonly server: Server;
  address(): { readonly host: string; readonly port: number } | undefined;
  isReady(): boolean;
  /** The store is being opened or migrated. */
  isOpening(): boolean;
  status(): Promise<Readonly<Record<string, unknown>>>;
  readonly operators: OperatorApi;
  reload(actor: string, options: ReloadOptions): Promise<NextGeneration>;
  /**
   * Stops in order: ingress, streams, handlers, adapters, stores. Coalesced; never throws.
   * Resolves with the parts that were cut. `onCut` of the first caller gets each one at once.
   */
  stop(limitMs: number, end?: StopCause, onCut?: (cut: Cut) => void): Promise<{ readonly cut: readonly Cut[] }>;
}
