// The rows of the comparison: what is measured for `npm run bench -- supervisor`, for any keeper. Peers keep up the host in the foreground,
// which is what their users give them to run; the baseline is then that, started by hand.
import { type Connections, connectionsOver, RESTARTS, type Restart } from '../../bench/connections.ts';
import { foregroundByHand, type HostProject, restartItself, workerByHand } from '../../bench/load/host-project.ts';
import type { Keeper, KeptHost } from '../../bench/load/keeper.ts';
import { idleMemory, recovery, startToReady, statusRoundTrip, withHost } from '../../bench/load/kept-host.ts';
import {
  crashLoops,
  jsonSpeed,
  lostLastWords,
  memoryOverRestarts,
  printSpeed,
} from '../../bench/load/kept-programs.ts';
import { rounded } from '../../bench/load/report.ts';
import { spareReady } from '../../bench/supervisor.ts';

export interface Cell {
  readonly text: string;
  readonly value?: number;
  readonly baseline?: number;
}

interface Rows {
  readonly names: readonly string[];
  readonly measure: (keeper: Keeper) => Promise<readonly Cell[]>;
}

const ROUNDS = 5;
const STATUS_ROUNDS = 9;
/** As many as there are in this time: one of them starts a program once a second. */
const RESTARTS_FOR = { restarts: 1_000, withinMs: 30_000 };
const LOOPS = ['at start', 'after 1.2 s', 'at start, after 22 s of health'];

export const ROWS: readonly Rows[] = [
  {
    names: [
      'memory of the keeper (bare Node)',
      'SIGKILL to 200 (by hand)',
      `failed of 200/s over ${RESTARTS} SIGKILLs (slowest; by hand)`,
      'failed over a restart that the host asks for',
      'failed over a restart command',
      'status, prompt to prompt (bare Node)',
    ],
    measure: (keeper) => withHost(keeper, [], (project, kept) => measureHost(keeper, project, kept)),
  },
  {
    names: ['start to ready (foreground by hand)', 'start, back at the prompt'],
    async measure(keeper) {
      const { readyMs, promptMs, foregroundMs } = await startToReady(keeper, 3);
      return [beside(readyMs, foregroundMs, 'ms'), plain(promptMs, 'ms')];
    },
  },
  { names: ['SIGKILL to 200 with a spare worker (by hand)'], measure: spare },
  {
    names: [`memory after restarts for ${RESTARTS_FOR.withinMs / 1_000} s (before)`],
    async measure(keeper) {
      const { beforeMiB, afterMiB, restarts } = await memoryOverRestarts(keeper, RESTARTS_FOR);
      const { text, ...cell } = beside(afterMiB, beforeMiB, 'MiB');
      return [{ ...cell, text: `${rounded(restarts)}: ${text}` }];
    },
  },
  {
    names: ['printed lines, stamped by their program'],
    measure: async (keeper) => [plain(await printSpeed(keeper), 'MB/s')],
  },
  {
    names: ['JSON lines (svc: 8 secrets masked; else pino)'],
    measure: async (keeper) => [plain(await jsonSpeed(keeper, keeper.name === 'svc' ? 'own' : 'pino'), '/s')],
  },
  {
    names: ['lines lost in 40 deaths of 2,000 lines each'],
    async measure(keeper) {
      const { lost, deaths } = await lostLastWords(keeper);
      return [{ text: lost === 0 ? '0' : `${rounded(lost)} (in ${deaths} of the deaths)`, value: lost }];
    },
  },
  {
    names: LOOPS.map((kind) => `starts in 30 s, crash ${kind}`),
    async measure(keeper) {
      const loops = await crashLoops(keeper);
      return loops.map(({ starts, cpuSeconds }) => ({
        text: `${starts}, ${cpuSeconds.toFixed(1)} CPU-s`,
        value: starts,
      }));
    },
  },
];

async function measureHost(keeper: Keeper, project: HostProject, kept: KeptHost): Promise<readonly Cell[]> {
  const memory = await idleMemory(kept);
  const byHand = keeper.name === 'svc' ? workerByHand : foregroundByHand;
  const killed = await recovery(project, { rounds: ROUNDS, byHand });
  const over = (restart: Restart): Promise<Connections> => connectionsOver(project, { byHand, restart });
  const overKill = await over({
    kept: async () => void process.kill(project.workerPid(), 'SIGKILL'),
    byHand: async (child) => void child.kill('SIGKILL'),
  });
  const asking = { refused: false };
  const overAsked = await over({ kept: () => asksForRestart(project, asking), byHand: terminated });
  const overCommand = await over({ kept: () => kept.restart(), byHand: terminated });
  const status = await statusRoundTrip(kept, STATUS_ROUNDS);
  const asked = failures(overAsked);
  return [
    beside(memory.value, memory.baseline, 'MiB'),
    beside(killed.value, killed.baseline, 'ms'),
    failures(overKill),
    asking.refused ? { ...asked, text: `SIGTERM: ${asked.text}` } : asked,
    failures(overCommand),
    beside(status.value, status.baseline, 'ms'),
  ];
}

const terminated: Restart['byHand'] = async (child) => void child.kill('SIGTERM');

/**
 * Drains and ends with 51 under svc and PM2. Under supervisord the host knows nobody who would start it again, and refuses: there it gets
 * SIGTERM, drains likewise and ends with 0, after which svc alone would leave it ended.
 */
async function asksForRestart(project: HostProject, asking: { refused: boolean }): Promise<void> {
  const status = await restartItself(project);
  if (status === 202) return;
  if (status !== 409) throw new Error(`a restart was answered with ${status}`);
  asking.refused = true;
  process.kill(project.workerPid(), 'SIGTERM');
}

async function spare(keeper: Keeper): Promise<readonly Cell[]> {
  if (keeper.name !== 'svc') return [{ text: '- (has none)' }];
  return withHost(keeper, ['standby: true'], async (project) => {
    const settled = (): Promise<void> => spareReady(project);
    const { value, baseline } = await recovery(project, { rounds: ROUNDS, byHand: workerByHand, settled });
    return [beside(value, baseline, 'ms')];
  });
}

/** The platform's view: it does not matter to it who refused or cut. */
function failures({ refused, cut, late, others, slowestMs, byHandMs }: Connections): Cell {
  const failed = refused + cut + late + others;
  return { text: `${failed} (${rounded(slowestMs)}; ${rounded(byHandMs)} ms)`, value: failed, baseline: byHandMs };
}

const plain = (value: number, unit: string): Cell => ({ text: `${rounded(value)} ${unit}`, value });
const beside = (value: number, baseline: number, unit: string): Cell => ({
  text: `${rounded(value)} (${rounded(baseline)}) ${unit}`,
  value,
  baseline,
});
