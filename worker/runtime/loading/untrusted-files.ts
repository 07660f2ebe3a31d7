// For `svc doctor`: all files of a project that other users can change. Plugins are located as in production.
import { type Untrusted, untrustedInProject } from '../../../shared/config/checks/file-trust.ts';
import { type LoadedConfig, loadConfig } from '../../../shared/config/load.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import type { TaskOptions } from '../once-types.ts';
import { resolvePlugin } from './find-plugin.ts';
import { untrustedFilesOf } from './plugin-files.ts';

export function untrustedFiles({ project, environment }: TaskOptions): readonly Untrusted[] {
  const ofProject = untrustedInProject(projectPaths(project));
  const loaded = configOf({ project, environment });
  const ofPlugins = (loaded === undefined ? [] : usesIn(loaded)).flatMap(([, use]) => pluginFiles(use, project));
  return [...new Map([...ofProject, ...ofPlugins].map((file) => [file.path, file])).values()];
}

/** Read in mode test, which refuses no file. Undefined if it cannot be read, which another check reports. */
export function configOf({
  project,
  environment,
}: Pick<TaskOptions, 'project' | 'environment'>): LoadedConfig | undefined {
  try {
    return loadConfig({ project, mode: 'test', environment, servesNothing: true });
  } catch {
    return undefined;
  }
}

/** Enabled slots, with what they use. */
export const usesIn = ({ config }: LoadedConfig): (readonly [slot: string, use: string])[] =>
  Object.entries(config.plugins).flatMap(([slot, { enabled, use = slot }]) => (enabled ? [[slot, use] as const] : []));

function pluginFiles(use: string, project: string): readonly Untrusted[] {
  try {
    const plugin = resolvePlugin(use, { project, mode: 'production' });
    return plugin.source === 'built-in' ? [] : untrustedFilesOf(plugin, project);
  } catch {
    return []; // a start reports a missing plugin
  }
}
