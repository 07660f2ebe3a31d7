// Steps that need the open database: recording this start, the event stream over the stored history, the first generation.
import { EXIT } from '../../shared/process/exit-codes.ts';
import { SvcError } from '../../shared/svc-error.ts';
import { systemClock } from '../../shared/time/clock.ts';
import { VERSION } from '../../shared/version.ts';
import { holdsAuthority, readAuthority, takeAuthority } from '../database/authority.ts';
import type { ProjectState } from '../database/project-state.ts';
import { readUntold, toldRestore } from '../database/restores-ledger.ts';
import { recordStart } from '../database/starts-ledger.ts';
import { recordEvents } from '../events/event-history.ts';
import { createEventRetention } from '../events/retention.ts';
import { createEventGateway } from '../events/stream/event-gateway.ts';
import { forgetUnfinished } from '../ingress/idempotency.ts';
import type { Candidate } from '../runtime/loading/assemble.ts';
import type { Parts } from './app-parts.ts';

const AGAIN_MS = 1_000;
const OF_STORAGE: ReadonlySet<string | undefined> = new Set(['storage_unavailable', 'database_corrupt']);

/** Writes one row per worker to the ledger of starts, whatever its owner. The commit is refused if the row exists. */
export async function recordThisStart({ options, facts, core, database }: Parts): Promise<void> {
  const { runtimeId, owner, mode } = options;
  const { previous } = facts;
  const row = {
    runtime_id: runtimeId,
    at: facts.startedAt,
    pid: process.pid,
    owner,
    version: VERSION,
    node: process.version,
    previous_end: previous.end,
    previous_code: previous.code,
    previous_signal: previous.signal,
    previous_detail: previous.detail,
  };
  const data = {
    version: VERSION,
    node: process.version,
    owner,
    mode,
    previousEnd: previous.end,
    previousCode: previous.code,
  };
  const at = systemClock.now();
  const restores = await readUntold(core.reader);
  const told = restores.map(
    ({ source: name, lost, carried }) =>
      ({ type: 'checkpoint.restored', at, runtimeId, data: { name, lost, carried } }) as const,
  );
  const events = recordEvents([{ type: 'runtime.started', at, runtimeId, data }, ...told]);
  const statements = [takeAuthority(), forgetUnfinished(), recordStart(row), ...events, ...restores.map(toldRestore)];
  const answer = await core.writer.commit({ name: 'runtime.started', statements });
  const [mine] = answer.kind === 'committed' ? (answer.rows[0] ?? []) : [{ value: await readAuthority(core.reader) }];
  if (mine?.['value'] === undefined) return;
  core.fence = holdsAuthority(Number(mine['value']));
  database.holds(Number(mine['value']));
}

/** Starts the first generation. If the storage failed, it is tried again each second, because nothing else would ask for it. */
export async function serveFirst(parts: Parts, first?: Promise<Candidate>): Promise<void> {
  const { database, engine, facts } = parts;
  const { runtime } = engine;
  if (facts.draining || runtime.current !== undefined) return;
  if (database.state.kind === 'open') await runtime.start(first).catch(() => {}); // the runtime reports it: log, event, readiness
  endIfReplaced(parts, runtime.current === undefined ? runtime.lastFailure : undefined);
  if (OF_STORAGE.has(runtime.lastFailure?.code)) systemClock.after(AGAIN_MS, () => void serveFirst(parts));
}

/**
 * Ends a start in the midst of which svc was installed anew: this process will never find the rest of its program. Returns whether it does. The next
 * one has all of it.
 */
export function endIfReplaced({ options }: Pick<Parts, 'options'>, error: unknown): boolean {
  if (!(error instanceof SvcError) || error.code !== 'restart_required') return false;
  options.requestExit(EXIT.restartRequired, error.message);
  return true;
}

export function openEvents({ facts, core, engine, metrics, housekeeping }: Parts, state: ProjectState): void {
  const { reader, writer, clock, log } = core;
  const retention = createEventRetention(
    {
      reader,
      writer,
      clock,
      log,
      now: () => housekeeping.now(),
      head: () => facts.head,
      limits: () => engine.runtime.loaded.config.events.history,
    },
    { oldest: state.oldest },
  );
  facts.retention = retention;
  facts.events = createEventGateway({
    reader,
    onHead: (listener) => writer.onHead(listener),
    head: () => facts.head,
    oldest: () => retention.oldest(),
    epoch: state.epoch,
    projectId: state.projectId,
    clock,
    log,
    metrics: {
      clients: (count) => {
        facts.streams = count;
      },
      gap: (reason) => metrics.gaps.inc({ reason }),
      slowClosed: () => metrics.slowCloses.inc(),
    },
  });
}
