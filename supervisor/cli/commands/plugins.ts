// `svc plugins list`: the plugins of the current generation, what they registered, and the order of their handlers.
import { EXIT } from '../../../shared/process/exit-codes.ts';
import type { Command } from '../command.ts';
import { shown } from '../output/printable.ts';
import { requireGeneration } from '../output/serving.ts';

type Plugin = Readonly<Record<string, unknown>>;

export const command: Command = {
  noun: 'plugins',
  verb: 'list',
  summary: 'Lists the plugins of the current generation, what they registered, and who is asked before whom',
  examples: ['svc plugins list', 'svc plugins list --json'],
  async run({ host, print, json }) {
    const client = await host();
    const { body } = await client.request('GET', '/api/plugins');
    // An older host reports no order.
    const { plugins, order = [] } = body as { readonly plugins: readonly Plugin[]; readonly order?: readonly Plugin[] };
    if (plugins.length === 0) await requireGeneration(client);
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
      const rows = offersOf(plugins, order);
      if (rows.length > 0) print.text('');
      if (rows.length > 0) print.table(['asked', 'about', 'capability'], rows);
    }
    return EXIT.ok;
  },
};

/** Handlers in the order in which they receive messages, then other capabilities such as tasks and routes. */
function offersOf(plugins: readonly Plugin[], order: readonly Plugin[]): readonly string[][] {
  const asked = order.map(({ asked: when, about, capability }) => [shown(when), shown(about), shown(capability)]);
  const listed = new Set(order.map(({ capability }) => capability));
  const others = plugins
    .flatMap(({ capabilities }) => (Array.isArray(capabilities) ? (capabilities as readonly unknown[]) : []))
    .filter((capability) => typeof capability === 'string' && !listed.has(capability));
  return [...asked, ...others.map((capability) => ['-', '-', shown(capability)])];
}

/** Lists and objects are shown only with --json. */
const isShort = (value: unknown): boolean => typeof value !== 'object' || value === null;
