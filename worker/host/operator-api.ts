// Questions of an operator at the worker's control socket that only the host can answer.
import type { AccountsStatus, RuntimeStatus, ToldExit } from '../../shared/api/control.ts';
import { projectPaths } from '../../shared/files/paths.ts';
import { refuseUnusableState } from '../../shared/files/state-folder.ts';
import type { EndpointRunner } from '../endpoints/endpoint-runner.ts';
import { countDead } from '../metrics/stored-figures.ts';
import type { NextStart } from '../runtime/runtime.ts';
import type { Parts } from './app-parts.ts';
import { refuseBadCode, refuseInFullWindow } from './app-restart.ts';
import { lastStarts } from './app-status.ts';

export interface OperatorApi {
  /** Ends of former workers from the ledger of starts, newest last. Empty while the store is not open. */
  exits(): Promise<readonly ToldExit[]>;
  /** Dead letters. Null if the store cannot be read. */
  dead(): Promise<RuntimeStatus['dead']>;
  /** Accounts that are enabled. Null while no generation serves. */
  accounts(): AccountsStatus | null;
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
  dead: async () => (parts.database.state.kind === 'open' ? countDead(parts.core.reader).catch(() => null) : null),
  accounts: () => (parts.engine.runtime.current === undefined ? null : accountsOf(parts.engine.endpoints.all())),
  checkConfig: async () => {
    refuseUnusableState(projectPaths(parts.options.project));
    return parts.engine.runtime.checkNext();
  },
  checkCode: () => refuseBadCode(parts),
  checkStarts: async () => refuseInFullWindow(await lastStarts(parts)),
});

const MOST_NAMED = 5;

/** Exported for tests. */
export function accountsOf(runners: readonly Pick<EndpointRunner, 'spec' | 'state' | 'downSince'>[]): AccountsStatus {
  const sinceOf = ({ state, downSince = state.since }: Pick<EndpointRunner, 'state' | 'downSince'>): number =>
    downSince;
  const enabled = runners.filter(({ state }) => state.state !== 'disabled');
  const others = enabled.filter(({ state }) => state.state !== 'online').toSorted((a, b) => sinceOf(a) - sinceOf(b));
  return {
    total: enabled.length,
    online: enabled.length - others.length,
    others: others.slice(0, MOST_NAMED).map((runner) => ({
      name: runner.spec.name,
      state: runner.state.state,
      since: new Date(sinceOf(runner)).toISOString(),
    })),
  };
}

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
