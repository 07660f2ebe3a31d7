// The rows of the comparison: what is measured for `npm run bench -- supervisor`, for any keeper. Peers keep up the host in the foreground,
// which is what their users give them to run; the baseline is then that, started by hand.

import { foregroundByHand, type HostProject, restartItself, workerByHand } from '../bench/host-project.ts';
import type { Keeper, KeptHost } from '../bench/keeper.ts';
import { connectionsOver, idleMemory, recovery, startToReady, statusRoundTrip, withHost } from '../bench/kept-host.ts';
import { crashLoops, lostLastWords, printSpeed } from '../bench/kept-programs.ts';
import { rounded } from '../bench/report.ts';
import type { SteadyTally } from '../support/steady-requests.ts';

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
const LOOPS = ['at start', 'after 1.2 s', 'at start, after 22 s of health'];

export const ROWS: readonly Rows[] = [
  {
    names: [
      'memory of the keeper (bare Node)',
      'SIGKILL to 200 (by hand)',
      'failed of 200/s over a SIGKILL (slowest)',
      'failed over an end of its own',
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
  {
    names: ['printed lines, stamped by their program'],
    measure: async (keeper) => [plain(await printSpeed(keeper), 'MB/s')],
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
  const own = keeper.name === 'svc';
  const killed = await recovery(project, { rounds: ROUNDS, byHand: own ? workerByHand : foregroundByHand });
  const over = (restart: () => Promise<void>): Promise<SteadyTally> =>
    connectionsOver(project, { startMs: killed.baseline, restart });
  const signalled = (signal: NodeJS.Signals) => async () => void process.kill(project.workerPid(), signal);
  const tallies = [
    await over(signalled('SIGKILL')),
    // svc counts an end that nobody asked it for as a stop: there the worker asks for its restart.
    await over(own ? () => restartItself(project) : signalled('SIGTERM')),
    await over(() => kept.restart()),
  ];
  const status = await statusRoundTrip(kept, STATUS_ROUNDS);
  return [
    beside(memory.value, memory.baseline, 'MiB'),
    beside(killed.value, killed.baseline, 'ms'),
    ...tallies.map(failures),
    beside(status.value, status.baseline, 'ms'),
  ];
}

/** The platform's view: it does not matter to it who refused or cut. */
function failures({ refused, cut, late, others, slowestMs }: SteadyTally): Cell {
  const failed = refused + cut + late + others.length;
  return { text: `${failed} (${rounded(slowestMs)} ms)`, value: failed };
}

const plain = (value: number, unit: string): Cell => ({ text: `${rounded(value)} ${unit}`, value });
const beside = (value: number, baseline: number, unit: string): Cell => ({
  text: `${rounded(value)} (${rounded(baseline)}) ${unit}`,
  value,
  baseline,
});
