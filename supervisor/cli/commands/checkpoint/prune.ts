// `svc checkpoint prune`: removes checkpoints and replaced states by the keys of `recovery`; no host is needed.
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import type { Command } from '../../command.ts';
import { byteText } from '../../output/byte-text.ts';
import { pruneStored } from '../../start/worker-entry.ts';

const prune: Command = {
  noun: 'checkpoint',
  verb: 'prune',
  summary:
    'Removes checkpoints that recovery.keepLast, keepDays, keepWeeks and maxBytes do not keep, and old replaced states',
  options: [{ flags: '--dry-run', description: 'Says what would go' }],
  examples: ['svc checkpoint prune --dry-run', 'svc checkpoint prune'],
  writesState: true,
  async run({ print, json, project, env }, _args, options) {
    const isDry = options['dryRun'] === true;
    const pruned = await pruneStored({ project: project(), environment: env, isDry });
    const { kept, bytes } = pruned;
    const removed = [...pruned.removed, ...pruned.replaced];
    if (json) print.json({ ...pruned, dryRun: isDry });
    else if (removed.length === 0) print.text(`nothing to remove, ${kept.length} kept`);
    else
      print.text(
        `${isDry ? 'would remove' : 'removed'} ${removed.join(', ')} (${byteText(bytes)}), ${kept.length} kept`,
      );
    return EXIT.ok;
  },
};

export const commands: Command[] = [prune];
