// Who would start this worker again: read from how the process came to be. Pure but for two marker files.
import { existsSync } from 'node:fs';
import type { RestartOwner } from './app-options.ts';

export interface Birth {
  readonly supervised: boolean;
  readonly pid: number;
  readonly ppid: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether a file exists; for tests. */
  readonly exists?: (path: string) => boolean;
}

/** Variables that a shell merely inherits from a unit, a container or PM2 do not make it one: pid and parent have to fit. */
export function restartOwner({ supervised, pid, ppid, environment, exists = existsSync }: Birth): RestartOwner {
  if (supervised) return 'daemon';
  if (isSystemd(environment, pid, ppid)) return 'systemd';
  if (environment['pm_id'] !== undefined && environment['PM2_HOME'] !== undefined) return 'pm2';
  if (ppid === 1 && !['0', '', undefined].includes(environment['XPC_SERVICE_NAME'])) return 'launchd';
  const inContainer =
    exists('/.dockerenv') || exists('/run/.containerenv') || environment['KUBERNETES_SERVICE_HOST'] !== undefined;
  if (pid === 1 || (ppid === 1 && inContainer)) return 'container';
  return 'foreground';
}

function isSystemd(environment: Birth['environment'], pid: number, ppid: number): boolean {
  if (environment['INVOCATION_ID'] === undefined) return false;
  if (environment['NOTIFY_SOCKET'] !== undefined) return true;
  const main = environment['SYSTEMD_EXEC_PID'];
  return main === undefined ? ppid === 1 : main === String(pid) || main === String(ppid);
}

/** The command with which an owner that starts the worker again is told to stop. */
export const OWNER_STOP: Readonly<Record<Exclude<RestartOwner, 'daemon' | 'foreground'>, string>> = {
  systemd: 'systemctl stop <unit>',
  launchd: 'launchctl bootout <domain>/<label>',
  container: 'stop the container: docker compose stop, or kubectl scale --replicas=0',
  pm2: 'pm2 stop <name>',
};
