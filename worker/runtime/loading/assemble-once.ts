// `runtime start --once --mode test` assembles all plugins, opens their resources, and commits the generation to a database in memory. Then
// everything is closed. The command uses no lock, no port, no connection to a platform and no file.
//
//   ASSEMBLEONCE-1  Anything that would keep a start from being ready is a fault that names a plugin, endpoint or selector. The exit code
//                   is 1. Plugin keys that their schema rejects are faults too, because the report lists all of them. An invalid file
//                   itself is 78.
//   ASSEMBLEONCE-2  Problems that would only occur in production are listed separately and are no faults.
//   ASSEMBLEONCE-3  The project's own database is read as bytes, so neither the database nor a running worker is affected.
import type { ConfigFault } from '../../../shared/config/fault.ts';
import type { LoadedConfig } from '../../../shared/config/load.ts';
import { SecretRegistry } from '../../../shared/log/redaction.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { turns } from '../../core/turns.ts';
import { accountFaults, doubleAccounts } from '../checks/account-findings.ts';
import { partNamesOf } from '../checks/missing-parts.ts';
import { nextRun } from '../generations/cron.ts';
import type { Generation } from '../generations/generation.ts';
import { collectStrayErrors } from '../generations/stray-errors.ts';
import {
  type Assembled,
  databaseReport,
  faultsOf,
  NOTHING,
  productionFaults,
  requirementsOf,
  storedState,
} from '../once-report.ts';
import type { AssembleOnce, CheckedProject, CheckOptions, OnceFault } from '../once-types.ts';
import { assembleAll, type Candidate } from './assemble.ts';
import { alsoFailed } from './assembly-errors.ts';
import { onceJobs } from './once-jobs.ts';
import { throwAwayHost } from './throw-away-host.ts';

export const assembleOnce: AssembleOnce = async ({ loaded, log, ...options }) => {
  const { project, mode, environment } = options;
  const warnings = [...loaded.warnings];
  const open = openResources();
  const stored = storedState(project, loaded);
  const host = throwAwayHost({
    project,
    mode,
    environment,
    loaded,
    log,
    warned: (fields, message) => warnings.push(log.secrets.mask(warningOf(fields, message))),
  });
  let assembled: Assembled | undefined;
  let generation: Generation | undefined;
  const faults: OnceFault[] = [];
  const stray = collectStrayErrors(loaded, options);
  try {
    generation = await host.start();
    assembled = { generation: generation.number, ...(await factsOf(loaded, generation.candidate)) };
  } catch (error) {
    faults.push(...faultsOf(error, 'root'));
  }
  await host.stop();
  const scheduled = await onceJobs(project, loaded.config.schedule.timezone, generation);
  faults.push(...scheduled.faults);
  faults.push(...(await stray.end()));
  const readiness = requirementsOf(loaded, stored, assembled?.endpoints ?? []);
  // If the assembly failed, unmet endpoint requirements are not listed, because all are unmet.
  const unmet = readiness.filter(({ component, met }) => !met && (assembled !== undefined || component === 'database'));
  faults.push(...unmet.map(({ component, reason }) => ({ component, message: reason })));
  return {
    ok: faults.length === 0,
    error: null,
    faults: faults.map(({ message, ...fault }) => ({ ...fault, message: log.secrets.mask(message) })),
    warnings,
    mode,
    project: loaded.config.host.name,
    configVersion: loaded.version,
    ...(assembled ?? NOTHING),
    jobs: [...(assembled ?? NOTHING).jobs, ...scheduled.jobs],
    readiness,
    database: databaseReport(stored),
    production: [...productionFaults(options, loaded), ...(await leftOpen(open))],
  };
};

async function factsOf({ config }: LoadedConfig, candidate: Candidate): Promise<Omit<Assembled, 'generation'>> {
  const crons = candidate.capabilities.ofKind('cron');
  const jobs = crons.map(async ({ id, spec }) => {
    const pattern = { at: spec.at, timezone: spec.timezone ?? config.schedule.timezone };
    const next = await nextRun(pattern, Date.now());
    return { id, ...pattern, next: next === undefined ? null : new Date(next).toISOString() };
  });
  return {
    plugins: candidate.plugins,
    capabilities: candidate.capabilities.all().map(({ id, kind }) => ({ id, kind })),
    endpoints: candidate.endpoints.map(({ id, owner, name, enabled, adapter }) => ({
      id,
      owner,
      name,
      enabled,
      adapter: adapter.name,
    })),
    jobs: await Promise.all(jobs),
    resources: candidate.resources.map(({ slot, name }) => `root/${slot}#resource/${name}`),
  };
}

function warningOf(fields: object, message: string): string {
  const { plugin, resource, error }: { readonly plugin?: string; readonly resource?: string; readonly error?: string } =
    fields;
  const place = plugin === undefined ? '' : `root/${plugin}${resource === undefined ? '' : `#resource/${resource}`}: `;
  return `${place}${message}${error === undefined ? '' : `: ${error}`}`;
}

/** Kinds of resources that a generation must not leave open. An Immediate ends by itself, and svc has some under way. */
const COUNTED = /^(Timeout|.*Wrap|.*Watcher)$/;
/** Within so many turns of the event loop ends what was under way when the generation ended. */
const SETTLING_TURNS = 50;

function openResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    if (COUNTED.test(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Resources that a plugin opened in `setup` and did not close. Each reload would leave them open. */
async function leftOpen(before: ReadonlyMap<string, number>): Promise<readonly OnceFault[]> {
  const look = (): readonly { readonly kind: string; readonly count: number }[] =>
    [...openResources()]
      .map(([kind, count]) => ({ kind, count: count - (before.get(kind) ?? 0) }))
      .filter(({ count }) => count > 0);
  let left = look();
  for (let turn = 0; left.length > 0 && turn < SETTLING_TURNS; turn += 1) {
    await turns(1);
    left = look();
  }
  if (left.length === 0) return [];
  const list = left.map(({ kind, count }) => `${count} ${kind}`).join(', ');
  return [
    {
      component: 'root',
      message: `after the end of the generation ${list} is left open: each reload would leave as much behind`,
      hint: 'open it with p.resource, or end it when p.signal aborts',
    },
  ];
}

interface CheckedPlugins extends Pick<CheckedProject, 'warnings' | 'accounts' | 'secretVariables'> {
  /** The warnings that keep a worker from serving anything, or end it. */
  readonly failures: readonly string[];
}

/**
 * Assembles all plugins and throws faults of the configuration. Other failures are returned as warnings.
 * Accounts that can never work are listed separately: a start accepts them, and only they fail.
 */
export async function checkPlugins({
  project,
  mode,
  loaded,
  secrets: tell,
  builtInOnly,
}: Pick<CheckOptions, 'project' | 'mode' | 'secrets' | 'builtInOnly'> & {
  readonly loaded: LoadedConfig;
}): Promise<CheckedPlugins> {
  const stray = collectStrayErrors(loaded, { project, mode });
  const registry = new SecretRegistry();
  registry.add(loaded.secrets);
  const secrets = (texts: readonly string[]): void => {
    registry.add(texts);
    tell?.(texts);
  };
  const warned: string[] = [];
  const options = {
    project,
    mode,
    loaded,
    secrets,
    parts: partNamesOf(loaded.config),
    logger: () => SILENT,
    warned: (warning: string) => void warned.push(warning),
    ...(builtInOnly === undefined ? {} : { builtInOnly }),
  };
  const { candidate, error, variables } = await assembleAll(options);
  candidate.abort.abort();
  const strays = await stray.end();
  const isFaulty = error?.code === 'config_invalid' || error?.code === 'secret_invalid';
  const failed = error === undefined ? [] : [...(isFaulty ? [] : [error]), ...alsoFailed(error)];
  const failures = failed.map(({ message, hint }) =>
    registry.mask(hint === undefined ? message : `${message}; ${hint}`),
  );
  const thrown = strays.map(({ component, message }) => registry.mask(`${component}: ${message}`));
  // Mode test invents missing secrets, so accounts cannot be judged.
  const judged = mode === 'test' ? { faults: [], warnings: [] } : accountFaults(candidate.endpoints, loaded);
  const accounts = judged.faults;
  const warnings = [
    ...warned,
    ...judged.warnings,
    ...(mode === 'test' ? [] : doubleAccounts(candidate.endpoints, loaded)),
    ...failures,
    ...thrown,
  ].map((warning) => registry.mask(warning));
  const all = [...failures, ...thrown.filter((message) => !OF_THE_OTHER.test(message))];
  if (!isFaulty)
    return {
      warnings,
      failures: all,
      accounts: accounts.map((fault) => masked(fault, registry)),
      secretVariables: [...variables.secret, ...variables.unjudged],
    };
  const { code, message, hint = '', details } = error;
  const faults = [
    ...(details['faults'] as readonly ConfigFault[]),
    ...accounts.map((fault) => masked(fault, registry)),
  ];
  throw new SvcError(code, message, { hint, cause: error, details: { faults: faults.toSorted(byPlace), warnings } });
}

/** The address may be held by the running worker, which frees it for the next one. */
const OF_THE_OTHER = /\bEADDRINUSE\b/;

const masked = (fault: ConfigFault, registry: SecretRegistry): ConfigFault => ({
  ...fault,
  message: registry.mask(fault.message),
});
const byPlace = (a: ConfigFault, b: ConfigFault): number => a.line - b.line || a.column - b.column;

const silence = (): void => {};
const SILENT = { debug: silence, info: silence, warn: silence, error: silence };
