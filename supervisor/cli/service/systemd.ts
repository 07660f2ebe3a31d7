// A systemd service of the system or of a user: two units (service and socket), controlled with systemctl, loginctl and journalctl.
//
//   SYSTEMD-1  Start and stop apply to both units, because a listening socket would start the service again.
//   SYSTEMD-2  An operator's start clears a spent start limit, as `svc runtime restart` does.
//   SYSTEMD-3  If no manager answers, nothing is written.
//   SYSTEMD-4  What systemd denies a user is asked for by sudo, without a password. So a rule of polkit or of sudo lets the user of a system service stop
//              and start it.
import { existsSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { SvcError } from '../../../shared/svc-error.ts';
import { writeServiceFile } from './files.ts';
import { belowHome, needHome } from './home-folder.ts';
import { templateOf } from './names.ts';
import { type Ran, runProgram, showProgram } from './programs.ts';
import { sandboxWarnings } from './sandbox.ts';
import type { LogOptions, Scope, Service, ServiceFile, ServiceState } from './service.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface SystemdOptions {
  readonly name: string;
  readonly scope: Scope;
  readonly env: Environment;
  readonly render: () => { readonly service: string; readonly socket: string };
  /** Folder of units; replaceable in tests. */
  readonly units?: string;
}

const SYSTEM_UNITS = '/etc/systemd/system';
const LINGERING = '/var/lib/systemd/linger';
/** systemd adds up to six lines of its own behind what the host said. */
const LAST_LINES = 12;

/** Folder of the user's units; undefined for a user without a home folder. */
export function userUnits(env: Environment): string | undefined {
  const config = env['XDG_CONFIG_HOME'] ?? belowHome(env, '.config');
  return config === undefined ? undefined : join(config, 'systemd', 'user');
}

export function systemdService({ name, scope, env, render, units = SYSTEM_UNITS }: SystemdOptions): Service {
  const folder = scope === 'user' ? needHome(userUnits(env)) : units;
  const service = `${name}.service`;
  const socket = `${name}.socket`;
  const files = [service, socket].map((unit) => join(folder, unit));
  const own = scope === 'user' ? userManagerEnvironment(env) : env;
  const hasFile = (unit: string): boolean => [unit, templateOf(unit)].some((file) => existsSync(join(folder, file)));
  const isThere = (): boolean => hasFile(service);
  /** A template may have been written without its socket: systemd fails at a unit that it does not know, after it has stopped the other. */
  const present = (): readonly string[] => (isThere() && !hasFile(socket) ? [service] : [socket, service]);
  const ask = async (args: readonly string[]): Promise<Ran> => {
    if (scope === 'user') return runProgram('systemctl', ['--user', ...args], own);
    const ran = await runProgram('systemctl', args, own);
    return isDenied(ran) ? bySudo(args, { env: own, ran }) : ran;
  };
  const must = async (args: readonly string[]): Promise<void> => {
    const ran = await ask(args);
    if (ran.code !== 0)
      throw refused(`${args.join(' ')} ended with ${ran.code}`, { ran, scope, lines: await lastLines(args) });
  };
  const lastLines = async ([verb]: readonly string[]): Promise<readonly string[]> => {
    if (verb !== 'start') return [];
    const unit = scope === 'user' ? ['--user-unit', service] : ['--unit', service];
    const { stdout } = await runProgram(
      'journalctl',
      [...unit, '-n', String(LAST_LINES), '-o', 'cat', '--no-pager'],
      own,
    );
    return stdout.split('\n').filter((line) => line !== '');
  };
  const state = async (): Promise<ServiceState> => {
    const ran = await ask(['show', service, `--property=${PROPERTIES}`]);
    if (ran.code !== 0) throw refused(`does not answer (${ran.code ?? 'it was ended'})`, { ran, scope, lines: [] });
    return stateOf(isThere(), ran);
  };
  return {
    kind: 'systemd',
    scope,
    name: service,
    file: join(folder, service),
    isInstalled: () => existsSync(join(folder, service)),
    isThere,
    render: () => {
      const texts = render();
      return [
        { path: join(folder, service), text: texts.service },
        { path: join(folder, socket), text: texts.socket },
      ];
    },
    async install(rendered: readonly ServiceFile[]) {
      await state(); // throws if no manager answers
      for (const file of rendered) writeServiceFile(file);
      await must(['daemon-reload']);
      await must(['enable', socket, service]);
    },
    async uninstall() {
      await must(['disable', '--now', socket, service]);
      for (const file of files) rmSync(file, { force: true });
      await must(['daemon-reload']);
      await ask(['reset-failed', socket, service]); // exits with 1 if there was no failure to clear
    },
    async start() {
      await ask(['reset-failed', ...present()]); // clears a spent start limit; exits with 1 if there was none
      await must(['start', ...present()]);
    },
    stop: () => must(['stop', ...present()]),
    state,
    async denied() {
      if (scope === 'user') return undefined;
      const idle = (await state()).running ? 'start' : 'stop'; // what it is already: systemd judges, and does nothing
      const ran = await runProgram('systemctl', [idle, service], own);
      return isDenied(ran) && !(await maySudo(present(), own)) ? firstLine(ran.stderr) : undefined;
    },
    logs: (options) =>
      showProgram(
        'journalctl',
        [...(scope === 'user' ? ['--user-unit'] : ['--unit']), service, ...logArguments(options)],
        own,
      ),
    warnings: () => (scope === 'user' ? [...lingerWarning(env), ...sandboxWarnings()] : []),
  };
}

/** Of systemd and polkit; of a bus that does not take this user. */
const isDenied = ({ code, stderr }: Ran): boolean =>
  code !== 0 && /authentication required|access denied|permission denied|not authorized/i.test(stderr);

/** SYSTEMD-4. `ran`: what systemd itself said, where no rule of sudo allows it. */
async function bySudo(
  args: readonly string[],
  { env, ran }: { readonly env: Environment; readonly ran: Ran },
): Promise<Ran> {
  const again = await runProgram('sudo', ['-n', 'systemctl', ...args], env);
  const isRefused = again.code === null || (again.code !== 0 && /^(?:sudo:|sorry, )/im.test(again.stderr));
  return isRefused ? ran : again;
}

/** Whether sudo would carry out all that a stop and a start need, without a password. */
async function maySudo(units: readonly string[], env: Environment): Promise<boolean> {
  const asked = ['stop', 'start', 'reset-failed'].map((verb) =>
    runProgram('sudo', ['-n', '-l', 'systemctl', verb, ...units], env),
  );
  return (await Promise.all(asked)).every(({ code }) => code === 0);
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0] ?? '';

const PROPERTIES = 'ActiveState,SubState,Result,MainPID,UnitFileState,NRestarts,StatusText';
/** Values of `ActiveState` in which a process runs or is about to start. */
const RUNNING = new Set(['active', 'activating', 'deactivating', 'reloading']);

function stateOf(installed: boolean, { stdout }: Ran): ServiceState {
  const properties = Object.fromEntries(
    stdout.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  const state = properties['ActiveState'] ?? 'unknown';
  const pid = Number(properties['MainPID'] ?? 0);
  const told = [
    properties['Result'] !== undefined && properties['Result'] !== 'success' ? `result ${properties['Result']}` : '',
    Number(properties['NRestarts'] ?? 0) > 0 ? `started again ${properties['NRestarts']} times` : '',
    properties['StatusText'] ?? '',
  ].filter((text) => text !== '');
  return {
    installed,
    enabled: properties['UnitFileState'] === 'enabled',
    state,
    running: RUNNING.has(state),
    pid: pid > 0 ? pid : null,
    ready: properties['StatusText'] === '' ? null : /^ready\b/.test(properties['StatusText'] ?? ''),
    detail: told.length > 0 ? told.join(', ') : null,
  };
}

interface Refusal {
  readonly ran: Ran;
  readonly scope: Scope;
  /** The service's last log lines. */
  readonly lines: readonly string[];
}

function refused(what: string, { ran, scope, lines }: Refusal): SvcError {
  const said = [ran.stderr.trim(), ...lines].filter((text) => text !== '').join('\n');
  const hint = /connect to .*bus|not been booted/.test(ran.stderr)
    ? WITHOUT_MANAGER[scope]
    : isDenied(ran)
      ? 'root may, and a user whom a rule of polkit or of sudo lets: `svc help guides`, release, "Under systemd"'
      : 'svc service status, svc service logs';
  return new SvcError('refused', `systemctl ${what}${said === '' ? '' : `: ${said}`}`, { hint });
}

const WITHOUT_MANAGER: Readonly<Record<Scope, string>> = {
  user: 'this user has no manager while nobody is logged in: log in (not by su), or loginctl enable-linger',
  system: 'this machine is not run by systemd: svc runtime start --daemon needs none',
};

const logArguments = ({ follow, lines, since }: LogOptions): string[] => [
  '--output=cat',
  '--no-pager',
  `--lines=${lines}`,
  ...(follow ? ['--follow'] : []),
  ...(since === undefined ? [] : [`--since=${since}`]),
];

/** A shell started by `su` or a job lacks the variable that names the manager's folder. */
function userManagerEnvironment(env: Environment): Environment {
  const runtime = `/run/user/${process.getuid?.()}`;
  return env['XDG_RUNTIME_DIR'] === undefined && existsSync(runtime) ? { ...env, XDG_RUNTIME_DIR: runtime } : env;
}

/** Without lingering a user's manager, and all its services, ends with the user's last session. */
function lingerWarning(env: Environment): readonly string[] {
  const user = env['USER'] ?? ownName();
  return existsSync(join(LINGERING, user))
    ? []
    : [`${user} does not linger: the service ends with the last session; loginctl enable-linger ${user}`];
}

function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.()); // a user without a passwd entry
  }
}
