// `svc service start|stop|status|logs`: the same commands for systemd and launchd.
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command, CommandContext, Printer } from '../../command.ts';
import { findRunning } from '../../connect/control-client.ts';
import { countOption } from '../../options.ts';
import type { Service, ServiceState } from '../../service/service.ts';
import { installedServiceFor, USER_OPTION } from '../../service/service-of.ts';

const start: Command = {
  noun: 'service',
  verb: 'start',
  summary: 'Starts the installed service, and waits until its worker is up',
  options: [USER_OPTION],
  examples: ['svc service start --user', 'sudo svc service start --project /srv/svc/alice'],
  async run(context, _args, options) {
    const service = installed(context, options);
    await service.start();
    const state = await service.state();
    context.print.json({ service: service.name, ...state });
    context.print.text(
      context.print.color.good(`started ${service.name}${state.pid === null ? '' : `, pid ${state.pid}`}`),
    );
    return EXIT.ok;
  },
};

const stop: Command = {
  noun: 'service',
  verb: 'stop',
  summary: 'Stops the service after a drain; it starts again with the machine',
  options: [USER_OPTION],
  examples: ['svc service stop --user', 'sudo svc service stop --project /srv/svc/alice'],
  async run(context, _args, options) {
    const service = installed(context, options);
    const { running } = await service.state();
    await service.stop();
    context.print.json({ service: service.name, stopped: true, wasRunning: running });
    context.print.text(
      running ? context.print.color.good(`stopped ${service.name}`) : `${service.name} was not running`,
    );
    return EXIT.ok;
  },
};

const status: Command = {
  noun: 'service',
  verb: 'status',
  summary: 'Says what the owner of the service tells; exit 0 ready, 1 not ready, 3 not installed or not running',
  options: [USER_OPTION],
  examples: ['svc service status --user', 'svc service status --json'],
  async run(context, _args, options) {
    const service = installedServiceFor(context, options);
    const state = service.isThere() ? await service.state() : NOT_INSTALLED;
    const ready = state.running && (await isReady(context, state));
    context.print.json({ service: service.name, owner: service.kind, file: service.file, ...state, ready });
    show(context.print, { service, state, ready });
    return state.installed && state.running ? (ready ? EXIT.ok : EXIT.failed) : EXIT.absent;
  },
};

const logs: Command = {
  noun: 'service',
  verb: 'logs',
  summary: 'Shows the log of the service: the journal of systemd, the file of launchd',
  options: [
    USER_OPTION,
    { flags: '-f, --follow', description: 'Follows it' },
    { flags: '-n, --lines <n>', description: 'Last lines', default: 50 },
    { flags: '--since <time>', description: 'systemd: from then on, as journalctl reads it' },
  ],
  examples: ['svc service logs --user -f', 'svc service logs -n 200'],
  async run(context, _args, options) {
    const lines = countOption(options, 'lines', 0) ?? 0;
    const service = installed(context, options);
    const code = await service.logs({
      follow: options['follow'] === true,
      lines,
      since: options['since'] === undefined ? undefined : String(options['since']),
    });
    return code === 0 ? EXIT.ok : EXIT.failed;
  },
};

export const commands: readonly Command[] = [start, stop, status, logs];

const NOT_INSTALLED: ServiceState = {
  installed: false,
  enabled: false,
  state: 'not installed',
  running: false,
  pid: null,
  ready: null,
  detail: null,
};

/** Throws `not_installed`, exit code 3. */
function installed(context: CommandContext, options: Readonly<Record<string, unknown>>): Service {
  const service = installedServiceFor(context, options);
  if (!service.isThere())
    throw new SvcError('not_installed', `${service.name} is not installed`, {
      hint:
        service.scope === 'user' && service.kind === 'systemd' ? 'svc service install --user' : 'svc service install',
    });
  return service;
}

/** Asks the worker over its socket. A different user's host is judged by its report to the process manager. */
async function isReady({ project }: CommandContext, state: ServiceState): Promise<boolean> {
  const running = await findRunning(project()).catch(() => undefined);
  return running?.status.ready ?? state.ready === true;
}

function show(
  print: Printer,
  { service, state, ready }: { readonly service: Service; readonly state: ServiceState; readonly ready: boolean },
): void {
  const word = state.running
    ? ready
      ? print.color.good('ready')
      : print.color.warn('not ready')
    : print.color.bad('not running');
  print.text(`${service.name}: ${state.state}, ${word}${state.pid === null ? '' : `, pid ${state.pid}`}`);
  if (state.detail !== null) print.text(`  ${state.detail}`);
  if (state.installed)
    print.text(`  ${service.file}${state.enabled ? ', starts by itself' : ', does not start by itself'}`);
  for (const warning of state.installed ? service.warnings() : []) print.note(print.color.warn(`warning: ${warning}`));
}
