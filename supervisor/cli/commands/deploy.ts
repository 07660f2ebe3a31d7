// `svc deploy init`: writes the files of one target into the project, all or none, and prints the commands that follow.
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Command } from '../command.ts';
import { deployProject } from '../deploy/project.ts';
import { TARGET_OPTIONS } from '../deploy/target.ts';
import { TARGETS } from '../deploy/targets/index.ts';
import { writeProject } from '../init/write-project.ts';
import { textArgument, textOption } from '../options.ts';

const NAMES = Object.keys(TARGETS);
/** Of every target. */
const COMMON = new Set(['name', 'force', 'dryRun']);
const REMEDY = 'Use --force, which keeps the old files as copies, and take your changes over from them.';

export const command: Command = {
  noun: 'deploy',
  verb: 'init',
  args: '<target>',
  summary: `Writes the files of a target into the project: ${NAMES.join(', ')}`,
  options: [
    { flags: '--name <name>', description: "Name of image, unit and resources (default: the package's)" },
    ...TARGET_OPTIONS,
    { flags: '--force', description: 'Replace files that are there, and keep copies of them' },
    { flags: '--dry-run', description: 'Only say what would be written' },
  ],
  examples: ['svc deploy init systemd', 'svc deploy init systemd --dry-run'],
  async run({ project, print, env }, [word], options) {
    const name = textArgument(word, '<target>');
    const load = Object.hasOwn(TARGETS, name) ? TARGETS[name] : undefined;
    if (load === undefined)
      throw new SvcError('usage', `there is no target ${name}`, { hint: `svc deploy init ${NAMES.join('|')}` });
    const { target } = await load();
    const foreign = TARGET_OPTIONS.map(({ flags }) => flags.slice(2).split(' ')[0] ?? '').find(
      (option) => options[option] !== undefined && !COMMON.has(option) && !target.options.includes(option),
    );
    if (foreign !== undefined)
      throw new SvcError('usage', `--${foreign} is not for ${name}`, { hint: 'svc deploy init --help' });
    const subject = deployProject(project(), textOption(options, 'name'));
    const plan = target.plan({ project: subject, options, env });
    const dryRun = options['dryRun'] === true;
    const force = options['force'] === true;
    const files = writeProject(plan.files, {
      folder: subject.folder,
      force,
      dryRun,
      now: Date.now(),
      remedy: REMEDY,
    });
    const { next, notes = [] } = plan;
    print.json({ ok: true, target: name, project: subject.folder, dryRun, files, notes, next });
    for (const { path, action, backup } of files)
      print.text(
        `${dryRun ? 'would be ' : ''}${action.padEnd(9)} ${path}${backup === undefined ? '' : print.color.dim(` (old one: ${backup})`)}`,
      );
    for (const note of notes) print.note(note);
    if (dryRun) return EXIT.ok;
    print.text(print.color.bold('Next:'));
    for (const line of next) print.text(`  ${line}`);
    return EXIT.ok;
  },
};
