// The service of a project: this machine's process manager, the service's name, and the facts in its files.
import { existsSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { loadConfig } from '../../../shared/config/load.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext, CommandOption } from '../command.ts';
import { template } from '../deploy/template.ts';
import { WORKER_OPTIONS } from '../start/worker-entry.ts';
import { launchdService } from './launchd.ts';
import { launchdLabel, systemServiceName, userServiceName } from './names.ts';
import { commandFile, nodeProgram, servicePath } from './programs.ts';
import { renderPlist, renderUnit, type ServiceFacts } from './render.ts';
import type { Scope, Service } from './service.ts';
import { systemdService } from './systemd.ts';

export interface ServiceSubject {
  readonly project: string;
  readonly scope: Scope;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Throws `usage` and `refused` if the project can have no service. */
export function serviceOf({ project, scope, env }: ServiceSubject): Service {
  const facts = (name: string): ServiceFacts => serviceFacts({ project, name, env });
  if (process.platform === 'darwin') {
    if (scope === 'user')
      throw new SvcError('usage', '--user is for systemd: a launch agent is always its own', {
        hint: 'svc service install, without --user',
      });
    const label = launchdLabel(project);
    return launchdService({
      label,
      project,
      env,
      render: () => renderPlist(template('launchd/agent.plist'), facts(label)),
    });
  }
  if (process.platform !== 'linux')
    throw new SvcError('refused', `there is no service for ${process.platform} yet`, {
      hint: 'svc runtime start --daemon',
    });
  const name = scope === 'user' ? userServiceName(project) : systemServiceName(project);
  if (name === undefined)
    throw new SvcError('refused', `a system service is for a project in /srv/svc/<user>, which ${project} is not`, {
      hint: 'svc service install --user, or move the project to /srv/svc/<user> and give it to that user',
    });
  const [service, socket] =
    scope === 'user'
      ? ['systemd/user.service', 'systemd/user.socket']
      : ['systemd/svc@.service', 'systemd/svc@.socket'];
  return systemdService({
    name,
    scope,
    env,
    render: () => ({
      service: renderUnit(template(service), facts(name)),
      socket: renderUnit(template(socket), facts(name)),
    }),
  });
}

/** Seconds between the end of a drain and the process manager's kill. */
const STOP_MARGIN_SECONDS = 7;

/** Throws `refused` where a service could not start or not write there. */
export function serviceFacts({
  project,
  name,
  env,
}: {
  readonly project: string;
  readonly name: string;
  readonly env: ServiceSubject['env'];
}): ServiceFacts {
  const paths = projectPaths(project);
  if (!existsSync(paths.env))
    throw new SvcError('refused', `${paths.env} is missing, and the service would not start without it`, {
      hint: 'write it with mode 0600, HTTP_TOKEN first: svc token create',
    });
  const { config } = loadConfig({ project, mode: 'production', environment: env });
  const cli = commandFile(project);
  if (!existsSync(cli))
    throw new SvcError('refused', `${cli} is not there`, { hint: 'npm ci, and npm run build where svc is a checkout' });
  const { database } = config;
  const file = database.dialect === 'sqlite' ? resolve(project, database.filename) : paths.database;
  if (![paths.stateDir, paths.dataDir].some((folder) => file.startsWith(`${folder}${sep}`)))
    throw new SvcError('refused', `database.filename is ${file}, and a service writes to .svc and data alone`, {
      hint: 'put the database into one of the two folders',
    });
  return {
    name,
    project,
    stateDir: paths.stateDir,
    dataDir: paths.dataDir,
    node: nodeProgram(env),
    workerOptions: WORKER_OPTIONS,
    cli,
    path: servicePath(project, env),
    host: config.http.host,
    port: config.http.port,
    stopSeconds: config.supervisor.stopTimeoutSeconds + STOP_MARGIN_SECONDS,
  };
}

/** The service selected by a command's options. */
export const serviceFor = (
  { project, env }: Pick<CommandContext, 'project' | 'env'>,
  options: Readonly<Record<string, unknown>>,
): Service => serviceOf({ project: project(), scope: options['user'] === true ? 'user' : 'system', env });

/** Like `serviceFor`, for commands about an installed service. A folder that can have none gives exit code 3 with advice. */
export function installedServiceFor(
  context: Pick<CommandContext, 'project' | 'env'>,
  options: Readonly<Record<string, unknown>>,
): Service {
  try {
    return serviceFor(context, options);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'refused') throw error;
    throw new SvcError('not_installed', `not installed: ${error.message}`, { hint: error.hint ?? '' });
  }
}

/** Shared by all `svc service` commands. */
export const USER_OPTION: CommandOption = {
  flags: '--user',
  description: 'systemd: under the manager of this user instead of that of the system',
};
