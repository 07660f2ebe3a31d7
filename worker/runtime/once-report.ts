// The part of `runtime start --once` beside plugins: which readiness requirements a start would meet, and problems in production.
// Uses files and configuration only; nothing is opened or written.
import { existsSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { ConfigFault } from '../../shared/config/fault.ts';
import { type LoadedConfig, loadConfig } from '../../shared/config/load.ts';
import type { Mode } from '../../shared/config/mode.ts';
import { projectPaths } from '../../shared/files/paths.ts';
import { checkStateFolder } from '../../shared/files/state-folder.ts';
import { endpointId, ownerOf } from '../../shared/identifiers.ts';
import { coerceError, type SvcError } from '../../shared/svc-error.ts';
import { readStoredSchema, type StoredSchema } from '../database/stored-schema.ts';
import { alsoFailed } from './loading/assembly-errors.ts';
import { isProjectFile, resolvePlugin } from './loading/find-plugin.ts';
import { refuseUntrusted } from './loading/plugin-files.ts';
import type { OnceFault, OnceReport, TaskOptions } from './once-types.ts';

export interface StoredState {
  readonly file: string;
  readonly schema: StoredSchema;
}

export type Assembled = Pick<
  OnceReport,
  'generation' | 'plugins' | 'capabilities' | 'endpoints' | 'jobs' | 'resources'
>;

export const NOTHING: Assembled = {
  generation: null,
  plugins: [],
  capabilities: [],
  endpoints: [],
  jobs: [],
  resources: [],
};

/** The report for a configuration that no start accepts. */
export function refusedReport(error: SvcError, mode: Mode): OnceReport {
  const { code, message, hint = null } = error;
  return {
    ok: false,
    error: { code, message, hint },
    faults: faultsOf(error, 'config'),
    warnings: [],
    mode,
    project: null,
    configVersion: null,
    ...NOTHING,
    readiness: [],
    database: null,
    production: [],
  };
}

/** The state of the project's database, read from its bytes. */
export function storedState(project: string, { config }: LoadedConfig): StoredState {
  const file = resolve(project, config.database.filename);
  return { file: relative(project, file), schema: readStoredSchema(file) };
}

export function databaseReport({ file, schema }: StoredState): OnceReport['database'] {
  switch (schema.state) {
    case 'absent':
      return { file, state: 'absent' };
    case 'usable':
      return {
        file,
        state: schema.pending.length === 0 ? 'current' : 'behind',
        applied: schema.applied,
        pending: schema.pending,
      };
    case 'refused':
      return { file, state: 'refused', reason: schema.reason.message };
  }
}

/** The database, which every start needs, and the requirements in `http.readiness`. */
export function requirementsOf(
  { config }: LoadedConfig,
  { schema }: StoredState,
  endpoints: readonly { readonly id: string; readonly enabled: boolean }[],
): OnceReport['readiness'] {
  const wanted = config.http.readiness;
  const database = {
    component: 'database',
    met: schema.state !== 'refused',
    reason: schema.state === 'refused' ? schema.reason.message : REASONS[schema.state],
  };
  return [
    database,
    ...wanted.endpoints.map(({ owner, name }) => {
      const id = endpointId(owner, name);
      const found = endpoints.find((spec) => spec.id === id);
      const reason =
        found === undefined
          ? 'http.readiness requires it, no plugin has it'
          : found.enabled
            ? 'in the generation'
            : 'http.readiness requires it, it is disabled';
      return { component: `endpoint:${id}`, met: found?.enabled === true, reason };
    }),
    ...wanted.agents.map((binding) => ({
      component: `agent:${binding}`,
      met: false,
      reason: 'http.readiness requires it, no such binding exists',
    })),
  ];
}

const REASONS = { absent: 'not there yet: a start makes it', usable: 'its schema can be used' } as const;

/** Faults that a start in production would refuse. */
export function productionFaults({ project, environment }: TaskOptions, loaded: LoadedConfig): OnceFault[] {
  const { stateDir } = projectPaths(project);
  const slots = Object.entries(loaded.config.plugins).filter(([, { enabled }]) => enabled);
  return [
    ...faultsIn('config', () => loadConfig({ project, mode: 'production', environment })),
    ...faultsIn('state', () => existsSync(stateDir) && checkStateFolder(stateDir)),
    ...slots.flatMap(([slot, { use = slot }]) => faultsIn(ownerOf(slot), () => judgePlugin(use, project))),
  ];
}

/** What is not there at all is a fault in every mode and reported elsewhere. A project file may be missing in production only. */
function judgePlugin(use: string, project: string): void {
  const rules = { project, mode: 'production' } as const;
  try {
    const plugin = resolvePlugin(use, rules);
    if (plugin.source !== 'built-in') refuseUntrusted(plugin, rules);
  } catch (error) {
    const { code, details } = coerceError(error);
    if (details['names'] === undefined && (isProjectFile(use) || code === 'config_invalid')) throw error;
  }
}

function faultsIn(component: string, look: () => unknown): OnceFault[] {
  try {
    look();
    return [];
  } catch (error) {
    return faultsOf(error, component);
  }
}

/** A fault per configuration fault, with its position; otherwise a single one that names the plugin or `component`. */
export function faultsOf(error: unknown, component: string): OnceFault[] {
  const known = coerceError(error);
  const listed = known.details['faults'];
  const others = alsoFailed(known).map(
    ({ message, hint, plugin }): OnceFault => ({
      component: plugin === undefined ? component : ownerOf(plugin),
      message,
      ...(hint === undefined ? {} : { hint }),
    }),
  );
  if (Array.isArray(listed)) {
    const faults = (listed as readonly ConfigFault[]).map((fault) => ({
      component: fault.path,
      code: known.code,
      message: `${fault.file}:${fault.line}:${fault.column} ${fault.message}`,
      ...remedyOf(fault, known),
    }));
    return [...faults, ...others];
  }
  const plugin = known.details['plugin'];
  const { code, message, hint } = known;
  const named = typeof plugin === 'string' ? ownerOf(plugin) : component;
  return [{ component: named, code, message, ...(hint === undefined ? {} : { hint }) }, ...others];
}

const remedyOf = ({ suggestion }: ConfigFault, { hint }: SvcError): Pick<OnceFault, 'hint'> =>
  suggestion === undefined ? (hint === undefined ? {} : { hint }) : { hint: `did you mean ${suggestion}?` };
