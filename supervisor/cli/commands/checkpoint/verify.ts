// `svc checkpoint verify`: carries a restore out beside the project. Needs no host.
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import type { Command } from '../../command.ts';
import { shown } from '../../output/printable.ts';
import { progressLine } from '../../output/progress-line.ts';
import { loadTasks } from '../../start/worker-entry.ts';
import { checkpointName } from './read.ts';

export const command: Command = {
  noun: 'checkpoint',
  verb: 'verify',
  args: '<name>',
  summary: 'Proves that a checkpoint can be restored; needs no host. Exit 1 with each fault',
  options: [
    { flags: '--quick', description: 'Hashes alone: the level is "checked", not "rehearsed"' },
    {
      flags: '--state',
      description: 'Without the code in it, as a release asks of another svc; the result is not kept',
    },
  ],
  examples: ['svc checkpoint verify c12', 'svc checkpoint verify c12 --quick --json'],
  writesState: true,
  async run(context, [given], options) {
    const { print, json, env, project } = context;
    const name = checkpointName(given);
    const folder = project();
    const line = progressLine();
    const { verifyCheckpoint } = await loadTasks(context);
    const result = await verifyCheckpoint({
      project: folder,
      environment: env,
      name,
      quick: options['quick'] === true,
      stateOnly: options['state'] === true,
      onStep: (step) => line.show(`${name}: ${step}`),
    }).finally(() => line.end());
    if (json) print.json(result);
    else if (result.ok)
      print.text(`${print.color.good(name)} ${result.level}, ${(result.ms / 1_000).toFixed(1)} s: no fault`);
    else {
      print.text(`${print.color.bad(name)} cannot be relied on:`);
      for (const fault of result.faults) print.text(`  ${shown(fault)}`);
      if (result.instead !== undefined) print.note(result.instead);
    }
    return result.ok ? EXIT.ok : EXIT.failed;
  },
};
