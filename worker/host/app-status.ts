// The status of the host for GET /api/system/status and the control socket.
import { VERSION } from '../../shared/version.ts';
import { readStarts } from '../database/starts-ledger.ts';
import { shownFailure } from '../runtime/generations/last-failure.ts';
import type { Parts } from './app-parts.ts';

const LAST_STARTS = 10;

export async function hostStatus({
  name,
  options,
  facts,
  core,
  database,
  engine,
  readiness,
  recovery,
}: Parts): Promise<Readonly<Record<string, unknown>>> {
  const { runtime } = engine;
  const { config, version } = runtime.loaded;
  const report = readiness.report();
  const starts = await lastStarts({ core, database });
  return {
    name,
    kind: config.host.kind,
    version: VERSION,
    node: process.version,
    projectId: facts.state?.projectId ?? null,
    runtimeId: options.runtimeId,
    generation: runtime.current?.number ?? null,
    draining: runtime.draining.map(({ number, running }) => ({ generation: number, running })),
    configVersion: version,
    startedAt: new Date(facts.startedAt).toISOString(),
    mode: options.mode,
    owner: options.owner,
    ready: report.ready,
    state: report.state,
    reasons: report.checks.filter((check) => !check.ready).map(({ component, reason }) => `${component}: ${reason}`),
    restarts: facts.restarts,
    lastExits: starts.filter(({ previous_end }) => previous_end !== 'first').map(lastExit),
    ingress: engine.gate.state ?? null,
    epoch: facts.state?.epoch ?? null,
    head: facts.head,
    inbox: engine.inbox.pending,
    checkpoint: recovery.newest(),
    lastFailure: shownFailure(runtime, database.state),
  };
}

/** The last starts, newest first. Empty while the store is not open. */
export async function lastStarts({ core, database }: Pick<Parts, 'core' | 'database'>): Promise<Start[]> {
  if (database.state.kind !== 'open') return [];
  return readStarts(core.reader, LAST_STARTS).catch(() => []);
}

type Start = Awaited<ReturnType<typeof readStarts>>[number];

function lastExit(start: Start) {
  return {
    before: start.runtime_id,
    at: new Date(start.at).toISOString(),
    end: start.previous_end,
    code: start.previous_code,
    signal: start.previous_signal,
  };
}
