// What a worker tells of itself: to its supervisor, and over its own socket.
import type { RuntimeStatus } from '../shared/api/control.ts';
import type { SupervisorSettings, WorkerMessage } from '../shared/api/ipc.ts';
import type { LoadedConfig } from '../shared/config/load.ts';
import { VERSION } from '../shared/version.ts';
import type { App, Mode, RestartOwner } from './app-options.ts';

export interface WorkerPhase {
  readonly state: 'starting' | 'running' | 'draining';
  readonly since: string;
  readonly startedAt: string;
}

export interface WorkerStatusFacts {
  readonly phase: WorkerPhase;
  readonly runtimeId: string;
  readonly owner: RestartOwner;
  readonly mode: Mode;
  readonly app: App | undefined;
  readonly configVersion: string | null;
}

export async function workerStatus({ phase, runtimeId, owner, mode, app, configVersion }: WorkerStatusFacts): Promise<RuntimeStatus> {
  const { generation, reasons } = await hostFacts(app);
  return {
    state: phase.state,
    since: phase.since,
    owner,
    reason: null,
    pid: process.pid,
    supervisorPid: null,
    runtimeId,
    generation,
    ready: phase.state === 'running' && app?.isReady() === true,
    reasons,
    address: app?.address() ?? null,
    startedAt: phase.startedAt,
    version: VERSION,
    configVersion,
    budget: null,
    exits: [],
    log: null,
    mode,
    notes: [],
  };
}

/** What the supervisor needs of the configuration: it reads none itself. */
export function supervisorSettings({ config, version }: LoadedConfig): SupervisorSettings {
  const { restarts, windowSeconds, upTimeoutSeconds, watchdogSeconds, stopTimeoutSeconds, log } = config.supervisor;
  return {
    restarts,
    windowMs: windowSeconds * 1_000,
    upMs: upTimeoutSeconds * 1_000,
    watchdogMs: watchdogSeconds * 1_000,
    stopMs: stopTimeoutSeconds * 1_000,
    logBytes: log.maxBytes,
    logFiles: log.maxFiles,
    configVersion: version,
    host: config.http.host,
    port: config.http.port,
  };
}

const LOOK_MS = 200;
/** The reasons of a host that stays unready change too; they are asked for less often, because that costs more. */
const LOOKS_PER_STATUS = 10;

/** Tells readiness at once and at each change; its looking never keeps the process alive. */
export function tellReadiness(app: App, send: (message: WorkerMessage) => void): NodeJS.Timeout {
  let told = '';
  let last: boolean | undefined;
  let looks = 0;
  const look = async (): Promise<void> => {
    const ready = app.isReady();
    looks += 1;
    if (ready === last && looks % LOOKS_PER_STATUS !== 0) return;
    last = ready;
    const { generation, reasons } = await hostFacts(app);
    const facts = JSON.stringify([ready, generation, reasons]);
    if (facts === told) return;
    told = facts;
    send({ type: 'ready', ready, generation, reasons });
  };
  void look(); // its errors are caught inside
  const timer = setInterval(() => void look(), LOOK_MS);
  timer.unref();
  return timer;
}

/** Of the app's own status only what is its to say here; a status that fails is none. */
async function hostFacts(app: App | undefined): Promise<{ readonly generation: number | null; readonly reasons: readonly string[] }> {
  try {
    const status = (await app?.status()) ?? {};
    const { generation, reasons } = status;
    return { generation: typeof generation === 'number' ? generation : null, reasons: Array.isArray(reasons) ? reasons.map(String) : [] };
  } catch {
    return { generation: null, reasons: ['the host cannot tell its status'] };
  }
}
