// Checks before a start that no other process manager starts this project by itself. Two of them would compete for the project.
import { readFileSync } from 'node:fs';
import { SvcError } from '../../../shared/svc-error.ts';
import { type KnownOwner, knownOwners, ownerPlaces } from '../service/owners.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws `already_running` with the process manager and its command, unless that one is starting us now. */
export function refuseSecondOwner(project: string, env: Environment): void {
  const other = knownOwners(project, ownerPlaces(env)).find((owner) => !isStarter(owner, env));
  if (other === undefined) return;
  throw new SvcError('already_running', `this project belongs to ${other.kind}, which starts it as ${other.name}`, {
    hint: `${other.start}; or, to take it from there: ${other.remove}`,
    details: { owner: other.kind, name: other.name, file: other.file },
  });
}

function isStarter({ kind, name }: KnownOwner, env: Environment): boolean {
  switch (kind) {
    case 'systemd':
      return ownControlGroups().some((group) => group.split('/').includes(name));
    case 'launchd':
      return env['XPC_SERVICE_NAME'] === name;
    case 'pm2':
      return env['pm_id'] !== undefined && env['name'] === name;
  }
}

function ownControlGroups(): readonly string[] {
  try {
    return readFileSync('/proc/self/cgroup', 'utf8').split('\n');
  } catch {
    return []; // not Linux
  }
}
