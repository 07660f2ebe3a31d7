// What the worker's own socket tells an operator, and the host alone knows: how former workers ended, and whether a start would take the configuration.
import type { ToldExit } from '../../shared/api/control.ts';
import { projectPaths } from '../../shared/files/paths.ts';
import { refuseUnusableState } from '../../shared/files/state-folder.ts';
import type { NextStart } from '../runtime/runtime.ts';
import type { Parts } from './app-parts.ts';
import { refuseBadCode, refuseInFullWindow } from './app-restart.ts';
import { lastStarts } from './app-status.ts';

export interface OperatorApi {
  /** Newest last, by the ledger of starts; none while the store is not open. */
  exits(): Promise<readonly ToldExit[]>;
  /** What the next worker would start with. Throws `state_dir_unsafe`, and `config_invalid` or `secret_invalid` where that one would end with 78;
   * noted like a reload that was refused. */
  checkConfig(): Promise<NextStart>;
  /** Throws `plugin_failed` or `config_invalid` where the next worker, with the code as it is now, would serve nothing and this one serves. */
  checkCode(): Promise<void>;
  /** Throws `too_many_requests` where systemd would count a restart as one failure too many; where that cannot be known it does not. */
  checkStarts(): Promise<void>;
}

export const operatorApi = (parts: Parts): OperatorApi => ({
  exits: () => formerExits(parts),
  checkConfig: async () => {
    refuseUnusableState(projectPaths(parts.options.project));
    return parts.engine.runtime.checkNext();
  },
  checkCode: () => refuseBadCode(parts),
  checkStarts: async () => refuseInFullWindow(await lastStarts(parts)),
});

/** Each start tells how the one before it ended: of the oldest that is read nothing is known but that. */
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
