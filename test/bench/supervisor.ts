// The supervisor: how soon and how completely a host comes back, what keeping it up costs, what is left of a crash loop. Each figure beside
// its baseline of the same round; medians over rounds. The host is the built one, as its users run it.
import { join } from 'node:path';
import type { RuntimeStatus } from '../../shared/api/control.ts';
import { CONTROL_SOCKET } from '../../shared/files/paths.ts';
import { messageOf } from '../../shared/svc-error.ts';
import { ask } from '../support/process/supervised.ts';
import { until } from '../support/until.ts';
import { connectionsOver, RESTARTS, type Restart, SLACK_MS } from './connections.ts';
import { type HostProject, restartItself, workerByHand } from './load/host-project.ts';
import { type KeptHost, SVC } from './load/keeper.ts';
import { idleMemory, recovery, startToReady, statusRoundTrip, withHost } from './load/kept-host.ts';
import { crashLoops, memoryOverRestarts } from './load/kept-programs.ts';
import { type Report, rounded } from './load/report.ts';
import { SHELL_LOOP } from './load/shell-loop.ts';
import { measureLogs } from './logs.ts';
import { measureStart } from './start.ts';

const ROUNDS = 7;
const STATUS_ROUNDS = 15;
const MB_A_MIB = 1_048_576 / 1e6;

export async function benchSupervisor(report: Report, { restarts }: { readonly restarts: number }): Promise<void> {
  /** A part that fails says so; the others are measured all the same. */
  const part = (name: string, measure: () => Promise<void>): Promise<void> =>
    measure().catch((error: unknown) => report.skip(name, messageOf(error)));
  await part('a host that is kept up', () =>
    withHost(SVC, [], async (project, kept) => {
      await memory(report, kept, restarts);
      await recoveryOf(report, project);
      await connections(report, project, kept);
      await status(report, kept);
    }),
  );
  await part('SIGKILL to 200 with a spare worker', () => standby(report));
  await part('starts', () => starts(report));
  await part('the log', async () => (await measureLogs(3)).forEach((figure) => report.add(figure)));
  await part('crash loops', () => loops(report));
}

/** One after the other: a loop without a limit takes both processors, which would be charged to the supervisor beside it. */
async function loops(report: Report): Promise<void> {
  const kept = await crashLoops(SVC);
  const plain = await crashLoops(SHELL_LOOP);
  for (const [index, { kind, starts, cpuSeconds }] of kept.entries()) {
    const loop = plain[index];
    report.add({
      name: `starts in 30 s: ${kind}`,
      value: starts,
      unit: '',
      baseline: { name: SHELL_LOOP.name, value: loop?.starts },
      // The healthy start before the loop is one of the five of the window.
      goal: { text: '<= 5', met: starts <= 5 },
    });
    report.add({
      name: '  processor time of that',
      value: cpuSeconds,
      unit: 's',
      baseline: { name: SHELL_LOOP.name, value: loop?.cpuSeconds },
      goal: { text: '<= 1 s', met: cpuSeconds <= 1 },
    });
  }
}

async function recoveryOf(report: Report, project: HostProject): Promise<void> {
  const { value, baseline } = await recovery(project, { rounds: ROUNDS, byHand: workerByHand });
  report.add({
    name: 'SIGKILL of the worker to 200',
    value,
    unit: 'ms',
    baseline: { name: 'the worker by hand', value: baseline },
    ratio: value / baseline,
    goal: { text: '<= +8 ms', met: value - baseline <= 8 },
  });
}

async function connections(report: Report, project: HostProject, kept: KeptHost): Promise<void> {
  const restarts: Readonly<Record<string, Restart>> = {
    SIGKILLs: {
      kept: async () => void process.kill(project.workerPid(), 'SIGKILL'),
      byHand: async (child) => void child.kill('SIGKILL'),
    },
    '51s': { kept: () => asksForRestart(project), byHand: (_, hand) => asksForRestart(hand) },
    'runtime restarts': { kept: () => kept.restart(), byHand: async (child) => void child.kill('SIGTERM') },
  };
  for (const [name, restart] of Object.entries(restarts)) {
    const over = await connectionsOver(project, { byHand: workerByHand, restart });
    const lost = over.refused + over.late + over.others;
    report.add({
      name: `refused or late of ${over.sent} over ${RESTARTS} ${name}, 200/s`,
      value: lost,
      unit: '',
      baseline: { name: 'refused by hand', value: over.byHandRefused },
      goal: { text: '0', met: lost === 0 },
    });
    report.add({
      name: `  slowest answer of each, median (late: after ${rounded(over.limitMs)} ms)`,
      value: over.slowestMs,
      unit: 'ms',
      baseline: { name: 'the same by hand', value: over.byHandMs },
      ratio: over.slowestMs / over.byHandMs,
      goal: { text: '<= +8 ms', met: over.slowestMs <= over.byHandMs + SLACK_MS },
    });
    report.add({
      name: '  cut, as the worker had accepted them',
      value: over.cut,
      unit: '',
      // Only a kill may cost what was accepted.
      ...(name === 'SIGKILLs' ? {} : { goal: { text: '0', met: over.cut === 0 } }),
    });
  }
}

async function asksForRestart(project: HostProject): Promise<void> {
  const status = await restartItself(project);
  if (status !== 202) throw new Error(`a restart was answered with ${status}`);
}

async function memory(report: Report, kept: KeptHost, restarts: number): Promise<void> {
  const { value, baseline } = await idleMemory(kept);
  report.add({
    name: 'memory of the supervisor',
    value,
    unit: 'MiB',
    baseline: { name: 'bare Node', value: baseline },
    ratio: value / baseline,
    goal: { text: '<= 42 MiB', met: value <= 42 },
  });
  report.add({
    name: '  the same in millions of bytes',
    value: value * MB_A_MIB,
    unit: 'MB',
    baseline: { name: 'bare Node', value: baseline * MB_A_MIB },
  });
  const { beforeMiB, afterMiB, ...done } = await memoryOverRestarts(SVC, { restarts });
  report.add({
    name: `  after ${rounded(done.restarts)} restarts`,
    value: afterMiB,
    unit: 'MiB',
    baseline: { name: 'before', value: beforeMiB },
    ratio: afterMiB / beforeMiB,
    goal: { text: '<= +2 MiB', met: afterMiB - beforeMiB <= 2 },
  });
}

async function status(report: Report, kept: KeptHost): Promise<void> {
  const { value, baseline } = await statusRoundTrip(kept, STATUS_ROUNDS);
  report.add({
    name: 'runtime status, prompt to prompt',
    value,
    unit: 'ms',
    baseline: { name: 'bare Node', value: baseline },
    ratio: value / baseline,
    goal: { text: '<= 1.80', met: value / baseline <= 1.8 },
  });
}

async function standby(report: Report): Promise<void> {
  await withHost(SVC, ['standby: true'], async (project) => {
    const settled = (): Promise<void> => spareReady(project);
    const { value, baseline } = await recovery(project, { rounds: ROUNDS, byHand: workerByHand, settled });
    report.add({
      name: 'SIGKILL to 200 with a spare worker',
      value,
      unit: 'ms',
      baseline: { name: 'the worker by hand', value: baseline },
      ratio: value / baseline,
      goal: { text: '<= 20 ms', met: value <= 20 },
    });
  });
}

/** Of a host with `supervisor.standby`. */
export async function spareReady({ folder }: HostProject): Promise<void> {
  const socket = join(folder, CONTROL_SOCKET);
  const isReady = async (): Promise<boolean> => ((await ask(socket, 'status')) as RuntimeStatus).standby === 'ready';
  await until(isReady, { what: 'a spare worker', timeoutMs: 60_000 });
}

async function starts(report: Report): Promise<void> {
  const { promptMs, readyMs, foregroundMs } = await startToReady(SVC, 3);
  const foreground = { name: 'the foreground to ready', value: foregroundMs };
  report.add({
    name: 'start --daemon to ready',
    value: readyMs,
    unit: 'ms',
    baseline: foreground,
    ratio: readyMs / foregroundMs,
  });
  report.add({
    name: '  back at the prompt',
    value: promptMs,
    unit: 'ms',
    baseline: foreground,
    ratio: promptMs / foregroundMs,
  });
  const bare = await measureStart(ROUNDS);
  report.add({
    name: 'start of the worker to ready',
    value: bare.readyMs,
    unit: 'ms',
    baseline: { name: 'bare server', value: bare.bareMs },
    ratio: bare.readyMs / bare.bareMs,
    goal: { text: '<= 4', met: bare.readyMs / bare.bareMs <= 4 },
  });
}
