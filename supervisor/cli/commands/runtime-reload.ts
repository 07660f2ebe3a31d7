// `svc runtime reload`: configuration, tokens and .env are read again; a new generation, or the reasons why the old one stays.
import { EXIT } from '../../../shared/exit-codes.ts';
import type { Command } from '../command.ts';
import { requireRunning } from '../control-client.ts';

const TIMEOUT_MS = 35_000;

export const command: Command = {
  noun: 'runtime',
  verb: 'reload',
  summary: 'Takes in a changed configuration without a restart; refused where code has changed',
  options: [{ flags: '--or-restart', description: 'Restart the worker (75) where a reload cannot take the change in' }],
  examples: ['svc runtime reload', 'svc runtime reload --or-restart'],
  async run({ project, print }, _args, options) {
    const running = await requireRunning(project());
    const result = await running.call('reload', {
      options: { orRestart: options['orRestart'] === true },
      timeoutMs: TIMEOUT_MS,
    });
    const { generation } = result as { readonly generation: number | null };
    print.text(print.color.good(`generation ${generation}`));
    print.json({ reloaded: true, generation });
    return EXIT.ok;
  },
};
