// `svc workroom convert|rebuild`: where the journal is kept, and what follows from it, while the host is stopped.
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command } from '../../command.ts';
import { wordOption } from '../../options.ts';
import { convertWorkroom, rebuildWorkroom } from '../../start/worker-entry.ts';

const STORES = ['file', 'database'] as const;

const convert: Command = {
  noun: 'workroom',
  verb: 'convert',
  summary: 'Moves the journal of a stopped host to the other store; numbers and hashes stay',
  options: [{ flags: '--to <store>', description: 'file or database' }],
  examples: ['svc workroom convert --to file'],
  async run({ print, json, project, env }, _args, options) {
    const to = wordOption(options, 'to', STORES);
    if (to === undefined) throw new SvcError('usage', '--to is missing: --to file, or --to database');
    const { head, hasMoved } = await convertWorkroom({ project: project(), environment: env, to });
    if (json) print.json({ store: to, head, hasMoved });
    else {
      const where = to === 'file' ? 'in files' : 'in the database';
      print.text(
        `${head.seq} events are ${where}${hasMoved ? '' : ' already'}${head.seq === 0 ? '' : `, up to ${head.seq}:${head.hash}`}`,
      );
      print.note(`svc.config.yml has to say so: workroom.store: ${to}`);
    }
    return EXIT.ok;
  },
};

const rebuild: Command = {
  noun: 'workroom',
  verb: 'rebuild',
  summary: 'Makes the catalog and all that follows from the journal anew, while the host is stopped',
  examples: ['svc workroom rebuild'],
  async run({ print, json, project, env }) {
    const head = await rebuildWorkroom({ project: project(), environment: env });
    if (json) print.json({ head });
    else print.text(`the board is what ${head.seq} events say`);
    return EXIT.ok;
  },
};

export const commands: Command[] = [convert, rebuild];
