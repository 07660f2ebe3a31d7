// `svc service install`: renders the unit or agent from deploy/, shows the differences, writes and registers it. Starts nothing.
import { readFileSync } from 'node:fs';
import { projectPaths } from '../../../../shared/files/paths.ts';
import { EXIT, type ExitCode } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command, CommandContext } from '../../command.ts';
import { difference } from '../../service/difference.ts';
import { makeStateFolders } from '../../service/files.ts';
import { checkInstall } from '../../service/install-checks.ts';
import type { Service, ServiceFile } from '../../service/service.ts';
import { serviceFor, USER_OPTION } from '../../service/service-of.ts';

export const command: Command = {
  noun: 'service',
  verb: 'install',
  summary: 'Installs the service that starts this project with the machine: systemd, or launchd on macOS',
  options: [
    USER_OPTION,
    { flags: '--print', description: 'Prints the files and writes nothing' },
    { flags: '--dry-run', description: 'Shows what would change and writes nothing' },
  ],
  examples: [
    'svc service install --user',
    'sudo svc service install --project /srv/svc/alice',
    'svc service install --user --print',
  ],
  async run(context, _args, options) {
    if (options['print'] === true && options['dryRun'] === true)
      throw new SvcError('usage', '--print and --dry-run exclude each other', { hint: 'svc service install --help' });
    const service = serviceFor(context, options);
    const files = service.render();
    if (options['print'] === true) return printFiles(context, files);
    const changed = files.filter(({ path, text }) => installedText(path) !== text);
    for (const file of changed) showDifference(context, file);
    if (options['dryRun'] === true) return dryRun(context, { service, changed });
    const owner = await checkInstall(context, service);
    const made = makeStateFolders(projectPaths(context.project()), owner);
    const wasInstalled = service.isInstalled();
    await service.install(changed);
    return tell(context, { service, changed, made, wasInstalled });
  },
};

function printFiles({ print }: CommandContext, files: readonly ServiceFile[]): ExitCode {
  print.json({ files });
  for (const { path, text } of files) print.text(`${files.length > 1 ? `# ${path}\n` : ''}${text}`.trimEnd());
  return EXIT.ok;
}

function installedText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // not installed
  }
}

function showDifference({ print }: CommandContext, { path, text }: ServiceFile): void {
  const installed = installedText(path);
  print.note(`${installed === '' ? 'new' : 'changed'}: ${path}`);
  if (installed === '') return;
  for (const line of difference(installed, text))
    print.note(line.startsWith('+') ? print.color.good(line) : line.startsWith('-') ? print.color.bad(line) : line);
}

function dryRun(
  { print }: CommandContext,
  { service, changed }: { readonly service: Service; readonly changed: readonly ServiceFile[] },
): ExitCode {
  print.json({ service: service.name, changed: changed.map(({ path }) => path), written: false });
  print.text(
    changed.length === 0 ? `${service.name} is installed as it should be` : `${changed.length} files would be written`,
  );
  return EXIT.ok;
}

interface Outcome {
  readonly service: Service;
  readonly changed: readonly ServiceFile[];
  readonly made: readonly string[];
  readonly wasInstalled: boolean;
}

async function tell({ print }: CommandContext, { service, changed, made, wasInstalled }: Outcome): Promise<ExitCode> {
  const { running } = await service.state();
  const warnings = service.warnings();
  print.json({
    service: service.name,
    owner: service.kind,
    file: service.file,
    alreadyInstalled: wasInstalled && changed.length === 0,
    changed: changed.map(({ path }) => path),
    made,
    running,
    warnings,
  });
  for (const folder of made) print.note(`made ${folder}`);
  print.text(
    changed.length === 0 ? `${service.name} was installed already` : print.color.good(`installed ${service.name}`),
  );
  for (const warning of warnings) print.note(print.color.warn(`warning: ${warning}`));
  const user = service.scope === 'user' && service.kind === 'systemd' ? ' --user' : '';
  if (!running) print.text(`next: svc service start${user}`);
  else if (changed.length > 0)
    print.text(`it runs as it was; to take this in: svc service stop${user}, svc service start${user}`);
  return EXIT.ok;
}
