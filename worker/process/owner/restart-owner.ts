// Detects which owner would restart this worker, from its environment and parent. Pure except for files of the container and of process 1.
//
//   RESTART-OWNER-1  In a container the owner restarts what ends with its process 1: that process itself, or the command of a known init. A process
//                    whose shell has ended is a child of process 1 too, and nothing starts it again.
import { existsSync, readFileSync } from 'node:fs';
import { hostname as machineName } from 'node:os';
import { isContainer } from '../../../shared/process/container.ts';
import { INIT_VARIABLE } from '../../../shared/process/first-process.ts';
import type { RestartOwner } from '../../database/writer-lock.ts';

export interface Birth {
  readonly supervised: boolean;
  readonly pid: number;
  readonly ppid: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Tests a file's existence; replaceable in tests. */
  readonly exists?: (path: string) => boolean;
  /** The text of a file, empty if it cannot be read; replaceable in tests. */
  readonly read?: (path: string) => string;
}

/** Names of programs that run one command as process 1, and end with it. npm runs `start`, which has to begin with `exec`. */
const RUNS_ONE_COMMAND = /^(tini(-static)?|dumb-init|docker-init|podman-init|catatonit|npm( .*)?)$/;
/** Names of programs that start their children again. */
const KEEPS_CHILDREN_UP = /^(s6-svscan|s6-linux-init|runsvdir|runit|supervisord|my_init)$/;

/** A shell may inherit the variables of a unit, a container or PM2. So pid and parent pid must match too. */
export function restartOwner(birth: Birth): RestartOwner {
  const { supervised, pid, ppid, environment, exists = existsSync } = birth;
  if (supervised) return 'daemon';
  if (isSystemd(environment, pid, ppid)) return 'systemd';
  if (environment['pm_id'] !== undefined && environment['PM2_HOME'] !== undefined) return 'pm2';
  if (ppid === 1 && !['0', '', undefined].includes(environment['XPC_SERVICE_NAME'])) return 'launchd';
  if (pid === 1) return 'container';
  if (ppid === 1 && environment[INIT_VARIABLE] !== undefined) return 'container';
  const command = ppid === 1 ? pid : npmBetween(birth);
  if (command === undefined) return 'foreground';
  return isContainer({ environment, exists }) && isKeptByInit(command, birth) ? 'container' : 'foreground';
}

/** npm, run by an init, which itself runs this process and ends with it. */
function npmBetween({ ppid, read = readText }: Birth): number | undefined {
  const isNpm = /^npm( .*)?$/.test(read(`/proc/${ppid}/comm`).trim());
  return isNpm && /^PPid:\s1$/m.test(read(`/proc/${ppid}/status`)) ? ppid : undefined;
}

/** RESTART-OWNER-1. The command of an init is its first child. Without that list the name of the init has to do. */
function isKeptByInit(pid: number, { read = readText }: Birth): boolean {
  const name = read('/proc/1/comm').trim();
  if (KEEPS_CHILDREN_UP.test(name)) return true;
  if (!RUNS_ONE_COMMAND.test(name)) return false;
  const [first = ''] = read('/proc/1/task/1/children').split(' ');
  return first === '' || first === String(pid);
}

function isSystemd(environment: Birth['environment'], pid: number, ppid: number): boolean {
  if (environment['INVOCATION_ID'] === undefined) return false;
  if (environment['NOTIFY_SOCKET'] !== undefined) return true;
  const main = environment['SYSTEMD_EXEC_PID'];
  return main === undefined ? ppid === 1 : main === String(pid) || main === String(ppid);
}

/** Owners that notice the end of a worker, and no silence of it. systemd has a watchdog of its own, and the supervisor is one. */
export const noticesNoSilence = (owner: RestartOwner): boolean => owner === 'container' || owner === 'launchd';

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

const ownCgroup = (): string => readText('/proc/self/cgroup');

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // not Linux, or /proc is hidden
  }
}
