// `svc plugins list`: the plugins of the current generation.
import { EXIT } from '../../../shared/exit-codes.ts';
import type { Command } from '../command.ts';
import { shown } from '../printable.ts';

type Plugin = Readonly<Record<string, unknown>>;

export const command: Command = {
  noun: 'plugins',
  verb: 'list',
  summary: 'Lists the plugins of the current generation and what they registered',
  examples: ['svc plugins list', 'svc plugins list --json'],
  async run({ host, print, json }) {
    const { body } = await (await host()).request('GET', '/api/plugins');
    const { plugins } = body as { readonly plugins: readonly Plugin[] };
    if (json) print.json(body);
    else if (plugins.length === 0) print.text('no plugins: plugins.<slot> of svc.config.yml names them');
    else {
      const head = [
        ...new Set(plugins.flatMap((plugin) => Object.keys(plugin).filter((name) => isShort(plugin[name])))),
      ];
      print.table(
        head,
        plugins.map((plugin) => head.map((name) => shown(plugin[name]))),
      );
    }
    return EXIT.ok;
  },
};

/** Lists and objects are for --json. */
const isShort = (value: unknown): boolean => typeof value !== 'object' || value === null;
