// Preconditions for installing a service: rights, a user, files visible in its sandbox, and no other process manager.
import { statSync } from 'node:fs';
import { projectPaths } from '../../../shared/files/paths.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext } from '../command.ts';
import { findRunning } from '../connect/control-client.ts';
import type { Owner } from './files.ts';
import { systemUser } from './names.ts';
import { knownOwners, ownerPlaces } from './owners.ts';
import { commandFile, nodeProgram, runProgram } from './programs.ts';
import type { Service } from './service.ts';

/** The service's user, if that is not the caller. Throws `refused` and `already_running`. */
export async function checkInstall({ project, env }: CommandContext, service: Service): Promise<Owner | undefined> {
  const folder = project();
  await refuseOtherOwners(folder, { env, service });
  if (service.scope === 'user') return undefined;
  if (process.getuid?.() !== 0)
    throw new SvcError('refused', 'a system service is installed by root', {
      hint: `sudo svc service install --project ${folder}, or svc service install --user`,
    });
  for (const program of [nodeProgram(env), commandFile(folder)])
    if (/^\/(home|root|run\/user)\//.test(program))
      throw new SvcError('refused', `${program} lies in a home folder, which a system service cannot see`, {
        hint: 'install node for the whole system, and svc as a dependency of the project',
      });
  const user = systemUser(folder) ?? '';
  const owner = await ownerOf(user, env);
  const { uid } = statSync(projectPaths(folder).env);
  if (uid !== owner.uid)
    throw new SvcError('refused', `.env belongs to user ${uid}, and ${user} could not read it`, {
      hint: `chown ${user} ${projectPaths(folder).env}`,
    });
  return owner;
}

async function ownerOf(user: string, env: CommandContext['env']): Promise<Owner> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => (await runProgram('id', [flag, user], env)).stdout),
  );
  if (uid === undefined || gid === undefined || !/^\d+$/.test(uid) || !/^\d+$/.test(gid))
    throw new SvcError('refused', `there is no user ${user}, as whom the service of /srv/svc/${user} would run`, {
      hint: `useradd --system --home-dir /srv/svc/${user} --shell /usr/sbin/nologin ${user}`,
    });
  return { uid: Number(uid), gid: Number(gid) };
}

async function refuseOtherOwners(
  project: string,
  { env, service }: { readonly env: CommandContext['env']; readonly service: Service },
): Promise<void> {
  const other = knownOwners(project, ownerPlaces(env)).find(({ file }) => file !== service.file);
  if (other !== undefined)
    throw new SvcError('already_running', `${other.kind} starts this project already, as ${other.name}`, {
      hint: other.remove,
      details: { owner: other.kind, name: other.name },
    });
  const running = await findRunning(project);
  if (running === undefined || running.status.owner === service.kind) return;
  const { owner, pid, supervisorPid } = running.status;
  throw new SvcError(
    'already_running',
    `this project is already running as pid ${pid ?? supervisorPid}, started by ${owner}`,
    {
      hint: 'svc runtime stop',
      details: { owner, pid: pid ?? supervisorPid },
    },
  );
}
