// State that outlives the supervisor: its identity and worker (.svc/supervisor.json), and the restart window (.svc/restart-window.json).
//
//   RECORD-1  Both files are replaced atomically. An empty, damaged or foreign file is ignored with a warning.
//             A window of an earlier boot is ignored without one.
//   RECORD-2  The window survives the supervisor's death, but not a requested stop.
//   RECORD-3  Both concern processes of this boot, so they are written without fsync. A start need not wait for the disk.
//   RECORD-4  A record that cannot be written (full disk) leaves the old one whole and stops nothing.
import type { ExitRecord } from '../../shared/api/control.ts';
import type { PreviousEnd } from '../../shared/api/ipc.ts';
import { stableJson, writeFileAtomic } from '../../shared/files/atomic-file.ts';
import { readOwnFile } from '../../shared/files/own-file.ts';
import { bootId, type ProcessIdentity } from '../../shared/process/process-identity.ts';
import { EMPTY_WINDOW, type RestartWindow } from '../machine/restart-window.ts';

export interface SupervisorRecord {
  readonly version: 1;
  readonly state: string;
  readonly since: string;
  readonly supervisor: ProcessIdentity;
  readonly worker: ProcessIdentity | null;
  readonly exits: readonly ExitRecord[];
  /** Limit for a drain in ms. A command that ends this supervisor by a signal waits that long. Missing in older versions. */
  readonly stopMs?: number;
}

export interface RecordPaths {
  readonly supervisorRecord: string;
  readonly restartWindow: string;
}

export type Former = Readonly<Record<'supervisor' | 'worker', ProcessIdentity>>;

/** State left by a former supervisor. */
export interface Legacy {
  readonly exits: readonly ExitRecord[];
  readonly previous: PreviousEnd;
  readonly window: RestartWindow;
  /** The supervisor and its worker, which may be alive or have left processes behind. */
  readonly former: Former | null;
  /** Why its files could not be used. */
  readonly fault: string | undefined;
}

/** Reads both files. A stopped supervisor leaves only its exits; one that died leaves its window, too. */
export function takeOver(paths: RecordPaths): Legacy {
  const { value, fault } = readJson(paths.supervisorRecord);
  if (value === undefined) return { ...NOTHING, fault };
  if (!isRecord(value)) return { ...NOTHING, fault: 'supervisor.json is not a record of this version' };
  const { state, exits, worker, supervisor } = value;
  const last = lastEnd(exits);
  if (state === 'stopped') return { ...NOTHING, exits, previous: last ?? NOTHING.previous };
  const died = { end: 'supervisor_died', code: null, signal: null, detail: `in state ${state}` };
  const previous = worker === null && last !== undefined ? last : died; // the supervisor had no worker when it died
  return { exits, previous, former: worker && { supervisor, worker }, ...readWindow(paths) };
}

/** The last exit of a worker. A stop of the supervisor does not replace an earlier crash of its worker. */
function lastEnd(exits: readonly ExitRecord[]): PreviousEnd | undefined {
  const last = exits.at(-1);
  return last && endOf(last);
}

export const endOf = ({ reason, code, signal, detail, runtimeId }: ExitRecord): PreviousEnd => ({
  end: reason,
  code,
  signal,
  detail,
  runtimeId,
});

const NOTHING: Legacy = {
  exits: [],
  previous: { end: 'first', code: null, signal: null, detail: null },
  window: EMPTY_WINDOW,
  former: null,
  fault: undefined,
};

/** The window, if the supervisor died in this boot. Otherwise an empty one. */
function readWindow(paths: RecordPaths): Pick<Legacy, 'window' | 'fault'> {
  const { value, fault } = readJson(paths.restartWindow);
  if (value === undefined) return { window: EMPTY_WINDOW, fault };
  const { version, boot, starts, crashesInRow } = Object(value) as Record<string, unknown>;
  if (version !== 1 || !Array.isArray(starts) || typeof crashesInRow !== 'number')
    return { window: EMPTY_WINDOW, fault: 'restart-window.json is not a window of this version' };
  if (boot !== bootId()) return { window: EMPTY_WINDOW, fault: undefined };
  return {
    window: { starts: starts.filter((at): at is number => typeof at === 'number'), crashesInRow },
    fault: undefined,
  };
}

/** Replaces both files. Returns the error instead of throwing it. */
export function writeRecord(paths: RecordPaths, record: SupervisorRecord, window: RestartWindow): string | undefined {
  try {
    writeFileAtomic(paths.restartWindow, stableJson({ version: 1, boot: bootId(), ...window }), { durable: false });
    writeFileAtomic(paths.supervisorRecord, stableJson(record), { durable: false });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function readJson(path: string): { readonly value?: unknown; readonly fault?: string } {
  try {
    return { value: JSON.parse(readOwnFile(path)) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    return { fault: `${path} could not be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function isRecord(value: unknown): value is SupervisorRecord {
  if (typeof value !== 'object' || value === null) return false;
  const { version, state, since, supervisor, worker, exits } = value as Record<string, unknown>;
  return (
    version === 1 &&
    typeof state === 'string' &&
    typeof since === 'string' &&
    isIdentity(supervisor) &&
    (worker === null || isIdentity(worker)) &&
    Array.isArray(exits)
  );
}

function isIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, start, boot } = value as Record<string, unknown>;
  return (
    typeof pid === 'number' && Number.isInteger(pid) && pid > 1 && typeof start === 'string' && typeof boot === 'string'
  );
}
