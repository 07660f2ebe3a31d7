// Lets another thread watch this event loop: shares a pulse with it and sends the data for its report.
//
// The thread is the database writer's, which is idle most of the time. A thread of its own would cost 9 MB.
import type { Worker } from 'node:worker_threads';
import type { LoadedConfig } from '../../shared/config/load.ts';
import type { ProjectPaths } from '../../shared/files/paths.ts';
import type { Log } from '../../shared/log/logger.ts';
import { blockedReportPath } from '../../shared/log/report-folder.ts';

export interface LoopGuardOptions {
  readonly paths: Pick<ProjectPaths, 'reportsDir'>;
  readonly log: Log;
  /** The current configuration. The key `supervisor.watchdogSeconds` sets after how many seconds of silence the worker is killed. */
  readonly config: () => LoadedConfig | undefined;
  /** Counts heartbeats. The thread ends a process whose heart stops beating. Missing: the owner looks after that. */
  readonly heartbeat?: SharedArrayBuffer;
}

/** The order to the thread, sent again after each change. */
export interface GuardOrder {
  readonly kind: 'guard';
  readonly pulse: SharedArrayBuffer;
  readonly pid: number;
  readonly folder: string;
  readonly runtimeId: string;
  /** Length of silence that is reported. */
  readonly limitMs: number;
  /** Length of silence after which the process is ended, by its heartbeat. */
  readonly end: { readonly heartbeat: SharedArrayBuffer; readonly afterMs: number } | undefined;
  readonly secrets: readonly string[];
}

const BEAT_MS = 250;
const WATCHDOG_SECONDS = 15;
/** Share of the time after which the worker is killed. The report must be written before. */
const REPORT_SHARE = 0.6;

/** Runs until the process ends and does not keep the process alive. */
export function guardLoop(
  thread: Pick<Worker, 'postMessage'>,
  {
    paths: { reportsDir: folder },
    runtimeId,
    log,
    config,
    heartbeat,
  }: LoopGuardOptions & { readonly runtimeId: string },
): void {
  const pulse = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const beats = new Int32Array(pulse);
  let told: GuardOrder | undefined;
  let beatAt = performance.now();
  const tell = (): void => {
    const afterMs = (config()?.config.supervisor.watchdogSeconds ?? WATCHDOG_SECONDS) * 1_000;
    const limitMs = afterMs * REPORT_SHARE;
    const end = heartbeat === undefined ? undefined : { heartbeat, afterMs };
    const secrets = log.secrets.values;
    if (told?.limitMs === limitMs && told.secrets.length === secrets.size) return;
    told = { kind: 'guard', pulse, pid: process.pid, folder, runtimeId, limitMs, end, secrets: [...secrets] };
    thread.postMessage(told);
  };
  const beat = (): void => {
    const silentMs = performance.now() - beatAt;
    beatAt += silentMs;
    Atomics.add(beats, 0, 1);
    if (told !== undefined && silentMs > told.limitMs)
      log.logger.warn(
        { ms: Math.round(silentMs), report: blockedReportPath(folder, runtimeId) },
        'event loop was blocked',
      );
    tell();
  };
  tell();
  setInterval(beat, BEAT_MS).unref();
}
