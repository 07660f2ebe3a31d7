// `svc init`: creates a project from answers on a terminal or from flags. Never overwrites; prints the next three commands.
import { randomBytes } from 'node:crypto';
import { basename, relative, resolve } from 'node:path';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Command, CommandContext } from '../command.ts';
import { wrongName, wrongPort } from '../init/answer-rules.ts';
import { type LockfileResult, makeLockfile } from '../init/lockfile.ts';
import type { PackedSvc } from '../init/packed-svc.ts';
import { PLATFORMS, type Platform, platformSteps, platformsNamed } from '../init/platforms.ts';
import { type Answers, PROJECT_NODE, projectFiles } from '../init/templates.ts';
import { refuseInWorkspace } from '../init/workspace.ts';
import { type WrittenFile, writeProject } from '../init/write-project.ts';
import { textArgument, textOption } from '../options.ts';

const TOKEN_BYTES = 32;
const DEFAULT_PORT = 8_068;
const ADAPTERS = PLATFORMS.map(({ name }) => name).join(', ');

export const command: Command = {
  noun: 'init',
  args: '[folder]',
  summary: 'Makes a project: configuration, token, sample plugin with its test',
  options: [
    { flags: '--name <name>', description: "Name of the package (default: the folder's name)" },
    { flags: '--adapter <names>', description: `Platforms, comma separated: ${ADAPTERS}` },
    { flags: '--port <port>', description: 'Port of the HTTP interface', default: DEFAULT_PORT },
    {
      flags: '--svc <spec>',
      description: 'What package.json asks for, such as a version range; left out: this svc, packed into vendor/',
    },
    { flags: '--no-sample', description: 'Without the sample plugin' },
    { flags: '--no-lockfile', description: 'Without running npm for the lockfile' },
    { flags: '--yes', description: 'Take the defaults, ask nothing' },
    { flags: '--force', description: 'Replace files that are there, and keep copies of them' },
    { flags: '--dry-run', description: 'Only say what would be written' },
  ],
  examples: [
    'svc init my-bot',
    'svc init --name my-bot --port 8070 --yes',
    'svc init my-bot --adapter telegram',
    'svc init my-bot --dry-run --json',
  ],
  async run(context, [folder], options) {
    const named = textOption(options, 'project');
    if (folder !== undefined && named !== undefined)
      throw new SvcError('usage', 'the folder is given twice: as an argument and with --project');
    const target = resolve(context.cwd, folder === undefined ? (named ?? '.') : textArgument(folder, '[folder]'));
    refuseInWorkspace(target);
    const asked = await answersOf(context, target, options);
    if (asked === undefined) return EXIT.failed;
    const { answers, packed } = await withSvc(context, asked, textOption(options, 'svc'));
    const dryRun = options['dryRun'] === true;
    const files = writeProject([...projectFiles(answers), ...(packed === undefined ? [] : [packed.file])], {
      folder: target,
      force: options['force'] === true,
      dryRun,
      now: Date.now(),
    });
    const lockfile = dryRun || options['lockfile'] === false ? undefined : await lock(context, target);
    tell(context, { target, files, lockfile, dryRun, platforms: answers.platforms });
    return EXIT.ok;
  },
};

async function answersOf(
  context: CommandContext,
  target: string,
  options: Readonly<Record<string, unknown>>,
): Promise<Omit<Answers, 'svc'> | undefined> {
  const adapters = textOption(options, 'adapter');
  const given = {
    name: textOption(options, 'name') ?? packageNameFrom(basename(target)),
    port: Number(options['port'] ?? DEFAULT_PORT),
    sample: options['sample'] !== false,
    platforms: adapters === undefined ? undefined : platformsNamed(adapters),
  };
  const asks = context.interactive && !context.json && options['yes'] !== true;
  const answers = asks ? await (await import('../init/ask.ts')).askFor(given) : given;
  if (answers === undefined) return undefined;
  const wrong = wrongName(answers.name) ?? wrongPort(answers.port);
  if (wrong !== undefined) throw new SvcError('usage', wrong);
  return { ...answers, platforms: answers.platforms ?? [], token: randomBytes(TOKEN_BYTES).toString('base64url') };
}

/** Without --svc the project gets this svc as a packed file of its own. */
async function withSvc(
  { env, signal, print }: CommandContext,
  asked: Omit<Answers, 'svc'>,
  given: string | undefined,
): Promise<{ readonly answers: Answers; readonly packed: PackedSvc | undefined }> {
  if (given !== undefined) return { answers: { ...asked, svc: given }, packed: undefined };
  print.note('packing svc …');
  const packed = await (await import('../init/packed-svc.ts')).packSvc({ env, signal });
  return { answers: { ...asked, svc: packed.spec }, packed };
}

function packageNameFrom(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|-+$/g, '')
    .slice(0, 100);
  return name === '' || name === 'svc' ? 'my-bot' : name;
}

async function lock({ env, signal, print }: CommandContext, folder: string): Promise<LockfileResult> {
  print.note('asking npm for the lockfile …');
  return makeLockfile({ folder, env, signal });
}

interface Outcome {
  readonly target: string;
  readonly files: readonly WrittenFile[];
  /** Undefined if no lockfile was requested. */
  readonly lockfile: LockfileResult | undefined;
  readonly dryRun: boolean;
  readonly platforms: readonly Platform[];
}

function tell({ cwd, print }: CommandContext, { target, files, lockfile, dryRun, platforms }: Outcome): void {
  const enter = relative(cwd, target);
  const next =
    enter === ''
      ? ['npm install', 'npm test', 'npm run build && npm start']
      : [`cd ${quoted(enter)}`, 'npm install && npm test', 'npm run build && npm start'];
  const warnings = [
    ...nodeWarning(),
    ...(lockfile?.made === false
      ? [`no package-lock.json: ${lockfile.reason}. Run npm install and commit the lockfile.`]
      : []),
  ];
  print.json({
    ok: true,
    project: target,
    dryRun,
    files,
    lockfile: lockfile ?? { made: false, reason: 'not asked for' },
    warnings,
    next,
    platforms: platforms.map((platform) => ({ adapter: platform.name, steps: platformSteps(platform) })),
  });
  for (const { path, action, backup } of files)
    print.text(
      `${dryRun ? 'would be ' : ''}${action.padEnd(9)} ${path}${backup === undefined ? '' : print.color.dim(` (old one: ${backup})`)}`,
    );
  if (lockfile?.made === true) print.text(`${'made'.padEnd(9)} package-lock.json`);
  for (const warning of warnings) print.note(print.color.warn(`warning: ${warning}`));
  if (dryRun) return;
  for (const platform of platforms) {
    print.text(print.color.bold(`${platform.title}:`));
    for (const step of platformSteps(platform)) print.text(`  ${step}`);
  }
  print.text(print.color.bold('Next:'));
  for (const line of next) print.text(`  ${line}`);
}

/** A new project requires a newer Node than svc itself. */
function nodeWarning(): string[] {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 22 || (major === 22 && minor >= 12)) return [];
  return [
    `this is Node ${process.versions.node}; the project asks for ${PROJECT_NODE}, and \`svc doctor\` in it calls this an error`,
  ];
}

const quoted = (path: string): string =>
  /^[A-Za-z0-9_./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
