// `svc runtime start`: in this process (foreground), as a daemon, or once as a test.
import { MODES, type Mode, TEST_HOST_VARIABLE } from '../../../../shared/config/mode.ts';
import { EXIT, type ExitCode } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command, CommandContext } from '../../command.ts';

interface StartOptions {
  readonly mode: Mode;
  readonly watch: boolean;
  readonly kind: 'foreground' | 'daemon' | 'once';
  readonly timeoutMs: number | undefined;
}

export const command: Command = {
  noun: 'runtime',
  verb: 'start',
  summary: 'Starts the runtime: in this process, as a daemon, or once as a test that leaves no trace',
  options: [
    { flags: '--mode <mode>', description: 'development (default: watches files), production; test with --once' },
    { flags: '--daemon', description: 'In the background, kept up by a supervisor; production without watching' },
    { flags: '--once', description: 'With --mode test: assembles everything once, prints a report, leaves nothing' },
    { flags: '--timeout <seconds>', description: 'With --daemon: how long to wait for ready; default 20' },
    { flags: '--watch', description: 'Takes in changed files' },
    { flags: '--no-watch', description: 'Leaves changed files alone' },
  ],
  examples: [
    'svc runtime start',
    'svc runtime start --mode production --no-watch',
    'svc runtime start --daemon',
    'svc runtime start --once --mode test --json',
  ],
  async run(context, _args, given) {
    const options = readOptions(given, context.env);
    const project = context.project();
    switch (options.kind) {
      case 'daemon':
        return (await import('../../start/start-daemon.ts')).startDaemon(context, project, options.timeoutMs);
      case 'once':
        if (given['mode'] === undefined) context.print.note('--once runs in mode test');
        return (await import('../../start/start-once.ts')).startOnce(context, project);
      case 'foreground':
        return startForeground(context, project, options);
    }
  },
};

function readOptions(given: Readonly<Record<string, unknown>>, env: CommandContext['env']): StartOptions {
  const { daemon, once, watch, timeout } = given;
  if (daemon === true && once === true) throw usage('--daemon and --once exclude each other');
  const mode = MODES.find(
    (name) => name === (given['mode'] ?? (daemon === true ? 'production' : once === true ? 'test' : 'development')),
  );
  if (mode === undefined) throw usage(`--mode takes ${MODES.join(', ')}`);
  if (daemon === true && mode !== 'production') throw usage('--daemon runs in mode production');
  if (daemon === true && watch === true) throw usage('--daemon does not watch');
  if (once === true && mode !== 'test') throw usage('--once takes --mode test');
  if (mode === 'test' && once !== true && env[TEST_HOST_VARIABLE] === undefined)
    throw usage('--mode test goes with --once: to serve, take development or production');
  if (timeout !== undefined && (daemon !== true || !(Number(timeout) > 0)))
    throw usage('--timeout goes with --daemon and needs a number of seconds');
  return {
    mode,
    watch: watch === undefined ? mode === 'development' : watch === true,
    kind: daemon === true ? 'daemon' : once === true ? 'once' : 'foreground',
    timeoutMs: timeout === undefined ? undefined : Number(timeout) * 1_000,
  };
}

const usage = (message: string): SvcError => new SvcError('usage', message, { hint: 'svc runtime start --help' });

/** The worker is this process, without a wrapper. Only a container's pid 1 runs it under a shell. */
async function startForeground(
  { print, json, env }: CommandContext,
  project: string,
  { mode, watch }: StartOptions,
): Promise<ExitCode> {
  await refuseBesideDaemon(project);
  const { refuseSecondOwner } = await import('../../start/second-owner.ts');
  refuseSecondOwner(project, env);
  const { runForeground } = await import('../../start/worker-entry.ts');
  const ended = deferred<ExitCode>();
  await runForeground({ project, mode, watch, json, exit: ended.resolve });
  const code = await ended.promise;
  if (code === EXIT.forced) print.note('stopped at once');
  return code;
}

/** A supervisor that waits to restart its worker holds no writer lock, so the supervisor is asked as well. */
async function refuseBesideDaemon(project: string): Promise<void> {
  const { answersFromElsewhere, findRunning } = await import('../../connect/control-client.ts');
  const running = await findRunning(project);
  if (running === undefined) return;
  const { status } = running;
  const pid = answersFromElsewhere(project, running) ? null : (status.pid ?? status.supervisorPid);
  const place = pid === null ? 'in another container' : `as pid ${pid}`;
  throw new SvcError(
    'already_running',
    `this project is already running ${place}, started by ${status.owner} in mode ${status.mode}, ${status.state}`,
    {
      hint: `\`svc runtime status\` shows it, \`${status.ownerStop ?? 'svc runtime stop'}\` ends it`,
      details: { ...(pid === null ? {} : { pid }), owner: status.owner },
    },
  );
}

function deferred<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
