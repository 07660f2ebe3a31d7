// `svc deploy init systemd`: the templated pair for machines that other tools set up. `svc service install` writes and registers it for this machine.
//
//   DEPLOY-SYSTEMD-1  One pair serves every user: /srv/svc/<user> is the project of svc@<user>.
//   DEPLOY-SYSTEMD-2  Two instances never share an address: --instance needs a --port of its own, which goes into a drop-in.
import { SvcError } from '../../../../shared/svc-error.ts';
import { textOption } from '../../options.ts';
import { renderUnit, type ServiceFacts } from '../../service/render.ts';
import { DEPLOY_PORT, type DeployProject, refused, stopSeconds } from '../project.ts';
import type { DeployTarget } from '../target.ts';
import { template, withHead } from '../template.ts';

const CLI = '/srv/svc/%i/node_modules/svc/dist/cli.js';
/** In a rendered path a `%` is a letter; here it is the user. */
const asUser = (text: string): string => text.replaceAll(CLI.replace('%', '%%'), CLI);
const NODE = '/usr/bin/node';
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const FIRST_USER = 'alice';
const UNITS = '/etc/systemd/system';
const USER = /^[a-z_][a-z0-9_-]{0,30}$/u;
const HIGHEST_PORT = 65_535;

export const target: DeployTarget = {
  name: 'systemd',
  summary: 'svc@.service and svc@.socket, a project for each user in /srv/svc/<user>',
  options: ['node', 'instance', 'port'],
  plan({ project, options }) {
    const node = nodeOf(textOption(options, 'node') ?? NODE);
    const pair = facts({
      node,
      host: usual(project, 'host') ?? '127.0.0.1',
      port: usual(project, 'port') ?? DEPLOY_PORT,
      stopSeconds: stopSeconds(project),
    });
    const files = ['systemd/svc@.service', 'systemd/svc@.socket'].map((path) => file(path, `deploy/${path}`, pair));
    const instance = instanceOf(options, Number(pair.port));
    const user = instance?.user ?? FIRST_USER;
    const dropIn = `svc@${user}.socket.d`;
    const units = `sudo cp deploy/systemd/svc@.service deploy/systemd/svc@.socket ${UNITS}/`;
    return {
      files:
        instance === undefined
          ? files
          : [
              ...files,
              file('systemd/instance.conf', `deploy/systemd/${dropIn}/address.conf`, { ...pair, port: instance.port }),
            ],
      next: [
        instance === undefined ? units : `${units} && sudo cp -r deploy/systemd/${dropIn} ${UNITS}/`,
        `sudo install -d -m 0700 -o ${user} -g ${user} /srv/svc/${user}/.svc /srv/svc/${user}/data`,
        'sudo systemctl daemon-reload',
        `sudo systemctl enable --now svc@${user}.socket svc@${user}.service`,
      ],
      notes: [
        `The project of svc@${user} is /srv/svc/${user}, built, and owned by the user ${user}. Its .env has mode 0600; without one the unit does not start.`,
        ...(instance === undefined
          ? ['A second instance needs an address of its own: svc deploy init systemd --instance bob --port 8069']
          : [`Commands find the instance by its configuration: HTTP_PORT=${instance.port} in /srv/svc/${user}/.env`]),
      ],
    };
  },
};

const file = (path: string, at: string, values: ServiceFacts) =>
  ({ path: at, text: withHead(path, asUser(renderUnit(template(path), values))), mode: 0o644 }) as const;

const facts = (own: Pick<ServiceFacts, 'node' | 'host' | 'port' | 'stopSeconds'>): ServiceFacts => ({
  name: 'svc@',
  project: '/srv/svc/%i',
  stateDir: '/srv/svc/%i/.svc',
  dataDir: '/srv/svc/%i/data',
  workerOptions: [],
  cli: CLI,
  path: SYSTEM_PATH,
  ...own,
});

/** The unit hides home folders, and a Node in one would be gone with its user. */
function nodeOf(node: string): string {
  if (!node.startsWith('/'))
    throw new SvcError('usage', `--node takes a whole path, not ${node}`, { hint: `--node ${NODE}` });
  if (/^\/(home|root|run\/user)\//u.test(node))
    throw refused(
      `${node} is in a home folder, which the unit cannot see`,
      `install Node for all users: --node ${NODE}`,
    );
  return node;
}

/** DEPLOY-SYSTEMD-2 */
function instanceOf(
  options: Readonly<Record<string, unknown>>,
  first: number,
): { readonly user: string; readonly port: number } | undefined {
  const [user, given] = [textOption(options, 'instance'), textOption(options, 'port')];
  if (user === undefined && given === undefined) return undefined;
  const hint = 'svc deploy init systemd --instance bob --port 8069';
  if (user === undefined || given === undefined)
    throw new SvcError('usage', '--instance and --port go together: each instance has an address of its own', { hint });
  if (!USER.test(user)) throw new SvcError('usage', `--instance takes the name of a user, not ${user}`, { hint });
  const port = Number(given);
  if (!/^\d+$/u.test(given) || port < 1 || port > HIGHEST_PORT)
    throw new SvcError('usage', `--port takes a number from 1 to ${HIGHEST_PORT}, not ${given}`, { hint });
  if (port === first) throw new SvcError('usage', `--port ${port} is the address of the other instances`, { hint });
  return { user, port };
}

/** The value of `http.<key>` that holds where no variable is set; undefined where it has none. */
function usual<T extends 'host' | 'port'>(
  { raw }: DeployProject,
  key: T,
): (T extends 'port' ? number : string) | undefined;
function usual({ raw }: DeployProject, key: 'host' | 'port'): number | string | undefined {
  const written = String(raw(['http', key]) ?? '');
  const value =
    /^\$\{\w+:-(?<usual>[^}]*)\}$/u.exec(written)?.groups?.['usual'] ?? (written.startsWith('$') ? '' : written);
  if (value === '') return undefined;
  return key === 'port' ? Number(value) : value;
}
