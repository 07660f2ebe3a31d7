// Checks if other users can change the files from which a plugin is loaded. Plugin code runs as the user of the host.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  judgeFiles,
  projectFiles,
  type Untrusted,
  untrustedOf,
  withFolders,
} from '../../../shared/config/checks/file-trust.ts';
import type { Mode } from '../../../shared/config/mode.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { codeBelow, codeOf } from './loaded-code.ts';

/** A plugin that is not part of svc. */
export interface PluginFile {
  readonly source: 'project' | 'package';
  /** The imported file. */
  readonly file: string;
}

export interface FileRules {
  readonly project: string;
  readonly mode: Mode;
  /** Called for problems that do not refuse the plugin in this mode. */
  readonly warned?: (warning: string) => void;
}

/** Throws `config_invalid` in production if other users can change the code. */
export function refuseUntrusted(plugin: PluginFile, { project, mode, warned }: FileRules): void {
  const { error, warnings } = judgeFiles(untrustedFilesOf(plugin, project), mode);
  if (error !== undefined) throw error;
  for (const warning of warnings) warned?.(warning);
}

/** Without the files common to every project, which are checked with the configuration. */
export function untrustedFilesOf(plugin: PluginFile, project: string): readonly Untrusted[] {
  const common = projectFiles(projectPaths(project));
  const paths = plugin.source === 'project' ? ofProject(plugin.file, project) : ofPackage(plugin.file);
  return untrustedOf(paths, project).filter(({ path }) => !common.includes(path));
}

const ofProject = (file: string, project: string): readonly string[] =>
  codeOf(file)
    .flatMap((path) => (path === file ? [path] : codeBelow(path)))
    .flatMap((path) => withFolders(path, project));

/** The entry file, the package's folders, and the folder above it (a scope or a store). Other files of a package are not checked. */
function ofPackage(file: string): readonly string[] {
  let root = dirname(file);
  while (!existsSync(join(root, 'package.json')) && dirname(root) !== root) root = dirname(root);
  return [...withFolders(file, root), join(root, 'package.json'), dirname(root)];
}
