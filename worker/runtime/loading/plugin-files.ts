// The files that a plugin is loaded from, and whether others can change them: its code runs as the user of the host.
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

/** A plugin that is no part of svc. */
export interface PluginFile {
  readonly source: 'project' | 'package';
  /** The file that is imported. */
  readonly file: string;
}

export interface FileRules {
  readonly project: string;
  readonly mode: Mode;
  /** Told what is no reason to refuse the plugin in this mode. */
  readonly warned?: (warning: string) => void;
}

/** Throws `config_invalid` where in production others can change what would run. */
export function refuseUntrusted(plugin: PluginFile, { project, mode, warned }: FileRules): void {
  const { error, warnings } = judgeFiles(untrustedFilesOf(plugin, project), mode);
  if (error !== undefined) throw error;
  for (const warning of warnings) warned?.(warning);
}

/** Apart from what every project has: that is judged with its configuration. */
export function untrustedFilesOf(plugin: PluginFile, project: string): readonly Untrusted[] {
  const common = projectFiles(projectPaths(project));
  const paths = plugin.source === 'project' ? ofProject(plugin.file, project) : ofPackage(plugin.file);
  return untrustedOf(paths, project).filter(({ path }) => !common.includes(path));
}

const ofProject = (file: string, project: string): readonly string[] =>
  codeOf(file)
    .flatMap((path) => (path === file ? [path] : codeBelow(path)))
    .flatMap((path) => withFolders(path, project));

/** Its first file and the folders of the package; that of a scope, or of a store, too. Packages have many files: not each is looked at. */
function ofPackage(file: string): readonly string[] {
  let root = dirname(file);
  while (!existsSync(join(root, 'package.json')) && dirname(root) !== root) root = dirname(root);
  return [...withFolders(file, root), join(root, 'package.json'), dirname(root)];
}
