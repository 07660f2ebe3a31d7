// Questions of an operator at the worker's control socket that only the host can answer.
import type { ToldExit } from '../../shared/api/control.ts';
import type { NextStart } from '../runtime/runtime.ts';
import type { Parts } from './app-parts.ts';
import { checkNext, refuseBadCode, refuseInFullWindow } from './app-restart.ts';
import { lastStarts } from './app-status.ts';

export interface OperatorApi {
  /** Ends of former workers from the ledger of starts, newest last. Empty while the store is not open. */
  exits(): Promise<readonly ToldExit[]>;
  /**
   * The configuration with which the next worker would start. Throws `state_dir_unsafe`, and `config_invalid` or `secret_invalid` for exit
   * 78.
   * A refusal is recorded like a refused reload.
   */
  checkConfig(): Promise<NextStart>;
  /** Throws `plugin_failed` or `config_invalid` if the next worker, with the current code, would serve nothing while this one serves. */
  checkCode(): Promise<void>;
  /** Throws `too_many_requests` if systemd would count one failure too many. Does not throw if the starts cannot be read. */
  checkStarts(): Promise<void>;
}

export const operatorApi = (parts: Parts): OperatorApi => ({
  exits: () => formerExits(parts),
  checkConfig: () => checkNext(parts),
  checkCode: () => refuseBadCode(parts),
  checkStarts: async () => refuseInFullWindow(await lastStarts(parts)),
});

/** Each start records the end of its predecessor, so the oldest row read yields only that. */
async function formerExits(parts: Parts): Promise<readonly ToldExit[]> {
  const starts = await lastStarts(parts);
  return starts
    .slice(1)
    .map((ended, index) => ({ ended, next: starts[index] ?? ended }))
    .map(({ ended, next }) => ({
      run: null,
      pid: ended.pid,
      runtimeId: ended.runtime_id,
      at: new Date(next.at).toISOString(),
      code: next.previous_code,
      signal: next.previous_signal,
      reason: next.previous_end,
      detail: next.previous_detail,
      wasUp: null,
      durationMs: null,
      lastLines: [],
    }))
    .toReversed();
}
