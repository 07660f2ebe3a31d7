// Detects which owner would restart this worker, from its environment and parent. Pure except for two marker files.
import { existsSync, readFileSync } from 'node:fs';
import { hostname as machineName } from 'node:os';
import { INIT_VARIABLE } from '../../../shared/process/first-process.ts';
import type { RestartOwner } from '../../database/writer-lock.ts';

export interface Birth {
  readonly supervised: boolean;
  readonly pid: number;
  readonly ppid: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Tests a file's existence; replaceable in tests. */
  readonly exists?: (path: string) => boolean;
}

/** A shell may inherit the variables of a unit, a container or PM2. So pid and parent pid must match too. */
export function restartOwner({ supervised, pid, ppid, environment, exists = existsSync }: Birth): RestartOwner {
  if (supervised) return 'daemon';
  if (isSystemd(environment, pid, ppid)) return 'systemd';
  if (environment['pm_id'] !== undefined && environment['PM2_HOME'] !== undefined) return 'pm2';
  if (ppid === 1 && !['0', '', undefined].includes(environment['XPC_SERVICE_NAME'])) return 'launchd';
  const inContainer =
    environment[INIT_VARIABLE] !== undefined ||
    exists('/.dockerenv') ||
    exists('/run/.containerenv') ||
    environment['KUBERNETES_SERVICE_HOST'] !== undefined;
  if (pid === 1 || (ppid === 1 && inContainer)) return 'container';
  return 'foreground';
}

function isSystemd(environment: Birth['environment'], pid: number, ppid: number): boolean {
  if (environment['INVOCATION_ID'] === undefined) return false;
  if (environment['NOTIFY_SOCKET'] !== undefined) return true;
  const main = environment['SYSTEMD_EXEC_PID'];
  return main === undefined ? ppid === 1 : main === String(pid) || main === String(ppid);
}

export interface OwnedFacts {
  readonly owner: RestartOwner;
  readonly environment: Birth['environment'];
  /** Content of /proc/self/cgroup, for the name of the unit; replaceable in tests. */
  readonly cgroup?: () => string;
  /** The hostname inside a container. */
  readonly hostname?: string;
}

/** The command that tells the owner to stop this worker. */
export function ownerStop({ owner, environment, cgroup = ownCgroup, hostname = machineName() }: OwnedFacts): string {
  switch (owner) {
    case 'systemd':
      return systemdStop(cgroup(), environment['LISTEN_FDS'] !== undefined);
    case 'launchd':
      return `launchctl bootout gui/${process.getuid?.() ?? '<uid>'}/${environment['XPC_SERVICE_NAME'] ?? '<label>'}`;
    case 'container':
      return environment['KUBERNETES_SERVICE_HOST'] === undefined
        ? `docker stop ${hostname}, docker compose stop, or podman stop ${hostname}`
        : 'kubectl scale --replicas=0, for the workload that this pod is of';
    case 'pm2':
      return `pm2 stop ${environment['name'] ?? environment['pm_id'] ?? '<name>'}`;
    case 'daemon':
    case 'foreground':
      return 'svc runtime stop';
  }
}

/** The unit is the last part of the cgroup path. Below `user@<uid>.service` it belongs to a user's manager. */
function systemdStop(cgroup: string, hasSocket: boolean): string {
  const path = /^(?:0:|\d+:name=systemd):(.*\.service)(?:\/|$)/m.exec(cgroup)?.[1] ?? '';
  const unit = path.split('/').at(-1) ?? '';
  const name = unit === '' ? '<unit>' : unit;
  const socket = hasSocket ? ` ${name.replace(/\.service$/, '.socket')}` : '';
  return `systemctl ${/\/user@\d+\.service\//.test(path) ? '--user ' : ''}stop${socket} ${name}`;
}

function ownCgroup(): string {
  try {
    return readFileSync('/proc/self/cgroup', 'utf8');
  } catch {
    return ''; // not Linux, or /proc is hidden
  }
}
