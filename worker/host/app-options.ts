// What a worker process hands to the runtime (`worker/host/app.ts`) and gets back: the line between the process and the host.

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
  /** Made by the process before anything else, so that its first line carries it. */
  readonly runtimeId: RuntimeId;
  /** The process's log; the app adds the secrets of each configuration to `log.secrets` and sets its level. */
  readonly log: Log;
  /** The configuration of this start, when the process has read it already. */
  readonly loaded?: LoadedConfig;
  readonly project: string;
  readonly mode: Mode;
  readonly watch: boolean;
  readonly owner: RestartOwner;
  /** How the process before this one ended, for the ledger of starts. Where it is known later (a spare), the app touches nothing before it is. */
  readonly previous: PreviousEnd | Promise<PreviousEnd>;
  /** The process environment; under a supervisor secrets come over IPC and are merged in here. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What `server.listen` takes of a socket that the owner holds, perhaps not there yet; left out: the app binds http.host and http.port itself. */
  readonly listenHandle?: object | Promise<object>;
  /** The writer thread: there already, or to be there once the host is up. Left out: the app starts one. */
  readonly writerThread?: WriterThread | Promise<WriterThread>;
  /** A reload begins, and has come to an end, good or bad. */
  onReload?(phase: 'begun' | 'ended'): void;
  /** Ends this process with a code after a drain: 51, 75; 0 where another one has taken its place. */
  requestExit(code: 0 | 51 | 75, reason: string): void;
}

/** The exit code that was asked for, and by what. */
export interface StopCause {
  readonly code: ExitCode;
  readonly reason: string;
}

/** `up` resolves once the server listens and the first assembly has a result, good or bad. */
export interface App {
  readonly runtimeId: string;
  readonly up: Promise<void>;
  readonly server: Server;
  address(): { readonly host: string; readonly port: number } | undefined;
  isReady(): boolean;
  /** The store is being opened, and brought to this program's schema. */
  isOpening(): boolean;
  status(): Promise<Readonly<Record<string, unknown>>>;
  readonly operators: OperatorApi;
  reload(actor: string, options: ReloadOptions): Promise<NextGeneration>;
  /** Ingress closed, streams told, dispatch drained, adapters, stores. Coalesced; never throws; names what was cut, to the first caller at once, too. */
  stop(limitMs: number, end?: StopCause, onCut?: (cut: Cut) => void): Promise<{ readonly cut: readonly Cut[] }>;
}
