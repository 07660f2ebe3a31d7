// Checks of the plugins that the configuration names. No code of a plugin runs.
import { lookAtPlugins } from '../start/worker-entry.ts';
import { type Check, type Finding, fault, ok, type Subject, warn } from './check.ts';

export const PLUGIN_CHECKS: readonly Check[] = [
  { id: 'plugins.found', title: 'Every plugin that the configuration names is there, and compiled', run: pluginsFound },
  { id: 'build.current', title: 'The compiled plugins are as new as their sources', run: buildCurrent },
];

async function pluginsFound(subject: Subject): Promise<Finding> {
  const { missing } = await look(subject);
  if (missing.length === 0) return ok('all are there');
  const fixes = new Set(missing.map(({ fix }) => fix));
  return fault(missing.map(({ message }) => message).join('; '), [...fixes].join('; '));
}

async function buildCurrent(subject: Subject): Promise<Finding> {
  const { stale } = await look(subject);
  return stale.length === 0 ? ok('no source is newer than its compiled code') : warn(stale.join('; '), 'npm run build');
}

const look = ({ paths: { project }, env }: Subject): ReturnType<typeof lookAtPlugins> =>
  lookAtPlugins({ project, mode: 'production', environment: env });
