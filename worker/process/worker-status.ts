// The status that a worker reports to its supervisor and over its own socket.
import type { RuntimeStatus } from '../../shared/api/control.ts';
import type { WorkerMessage } from '../../shared/api/ipc.ts';
import type { Mode } from '../../shared/config/mode.ts';
import { VERSION } from '../../shared/version.ts';
import type { RestartOwner } from '../database/writer-lock.ts';
import type { App } from '../host/app-options.ts';
import type { SocketHolder } from './listen-socket.ts';

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
  readonly socket: SocketHolder | null;
}

export async function workerStatus({
  phase,
  runtimeId,
  owner,
  mode,
  app,
  socket,
}: WorkerStatusFacts): Promise<RuntimeStatus> {
  const { generation, reasons, configVersion } = await hostFacts(app);
  const exits = (await app?.operators.exits()) ?? [];
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
    socket,
    startedAt: phase.startedAt,
    version: VERSION,
    configVersion,
    budget: null,
    exits,
    dead: (await app?.operators.dead()) ?? null,
    accounts: app?.operators.accounts() ?? null,
    log: null,
    mode,
    notes: [],
  };
}

const LOOK_MS = 200;
/** Generation and reasons can change while readiness does not. Reading them costs more, so they are checked every fifth time. */
const LOOKS_PER_STATUS = 5;

export interface ReadinessTeller {
  /** Checks now and reports a change. */
  look(): Promise<void>;
  stop(): void;
}

export interface ReadinessTellerOptions {
  readonly app: App;
  readonly send: (message: WorkerMessage) => void;
  /** A reload has applied another configuration. */
  readonly onConfig: (version: string) => void;
}

/** Reports readiness at once and at each change. The timer does not keep the process alive. */
export function tellReadiness({ app, send, onConfig }: ReadinessTellerOptions): ReadinessTeller {
  let told = '';
  let last: boolean | undefined;
  let looks = 0;
  let looking = Promise.resolve();
  const lookNow = async (): Promise<void> => {
    const ready = app.isReady();
    last = ready;
    const { generation, reasons, configVersion } = await hostFacts(app);
    if (configVersion !== null) onConfig(configVersion);
    const facts = JSON.stringify([ready, generation, reasons]);
    if (facts === told) return;
    told = facts;
    send({ type: 'ready', ready, generation, reasons });
  };
  // Checks run one after the other, so an older result is never reported after a newer one.
  const look = (): Promise<void> => {
    looking = looking.then(lookNow, lookNow);
    return looking;
  };
  const glance = (): void => {
    looks += 1;
    if (app.isReady() !== last || looks % LOOKS_PER_STATUS === 0) void look(); // hostFacts catches its own errors
  };
  glance();
  const timer = setInterval(glance, LOOK_MS);
  timer.unref();
  return { look, stop: () => clearInterval(timer) };
}

/** The part of the app's status that is reported. If the status fails, its reason says so. */
async function hostFacts(app: App | undefined): Promise<HostFacts> {
  try {
    const { generation, reasons, configVersion } = (await app?.status()) ?? {};
    return {
      generation: typeof generation === 'number' ? generation : null,
      reasons: Array.isArray(reasons) ? reasons.map(String) : [],
      configVersion: typeof configVersion === 'string' ? configVersion : null,
    };
  } catch {
    return { generation: null, reasons: ['the host cannot tell its status'], configVersion: null };
  }
}

interface HostFacts {
  readonly generation: number | null;
  readonly reasons: readonly string[];
  readonly configVersion: string | null;
}
