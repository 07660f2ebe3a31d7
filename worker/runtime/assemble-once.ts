// `runtime start --once --mode test`: the whole tree of plugins is assembled and looked at, nothing serves. No lock, no port, no
// connection, no file; what would not hold in production is in the report.
import type { LoadedConfig } from '../../shared/config/load.ts';
import { endpointId } from '../../shared/identifiers.ts';
import { coerceError } from '../../shared/svc-error.ts';
import type { Mode } from '../app-options.ts';
import { scopedLog } from '../scoped-log.ts';
import type { AssembleOnce, OnceReport } from '../task.ts';
import { assemble, type Candidate } from './assemble.ts';

type Fault = OnceReport['faults'][number];

export const assembleOnce: AssembleOnce = async ({ project, mode, log, loaded }) => {
  const report = { mode, project: loaded.config.host.name, configVersion: loaded.version, warnings: loaded.warnings };
  let candidate: Candidate;
  try {
    candidate = await assemble({
      project,
      mode,
      loaded,
      parts: ['commands'],
      secrets: (texts) => log.secrets.add(texts),
      logger: (slot) => scopedLog(log.logger, { plugin: `root/${slot}` }),
    });
  } catch (error) {
    return { ...report, ok: false, faults: faultsOf(error) };
  }
  candidate.abort.abort();
  const requirements = requirementsOf(loaded, candidate);
  const faults = requirements
    .filter(({ met }) => !met)
    .map(({ component, reason }) => ({ component, message: reason }));
  return {
    ...report,
    ok: faults.length === 0,
    faults,
    plugins: candidate.plugins,
    capabilities: candidate.capabilities.all().map(({ id, kind }) => ({ id, kind })),
    endpoints: candidate.endpoints.map(({ id, owner, name, enabled, adapter }) => ({
      id,
      owner,
      name,
      enabled,
      adapter: adapter.name,
    })),
    readiness: requirements,
    resources: candidate.resources.map(({ slot, name }) => `root/${slot}#resource/${name}`),
  };
};

/** Assembles and looks only for what is wrong in the configuration. Throws it; anything else that fails is given back as a warning. */
export async function checkPlugins({
  project,
  mode,
  loaded,
}: {
  readonly project: string;
  readonly mode: Mode;
  readonly loaded: LoadedConfig;
}): Promise<readonly string[]> {
  try {
    const candidate = await assemble({ project, mode, loaded, parts: ['commands'], logger: () => SILENT });
    candidate.abort.abort();
    return [];
  } catch (error) {
    const known = coerceError(error);
    if (known.code === 'config_invalid' || known.code === 'secret_invalid') throw known;
    return [known.message];
  }
}

const silence = (): void => {};
const SILENT = { debug: silence, info: silence, warn: silence, error: silence };

function faultsOf(error: unknown): readonly Fault[] {
  const { message, details } = coerceError(error);
  const listed = details['faults'];
  if (Array.isArray(listed)) {
    return listed.map(
      (fault: {
        readonly file: string;
        readonly line: number;
        readonly column: number;
        readonly path: string;
        readonly message: string;
      }) => ({
        component: fault.path,
        message: `${fault.file}:${fault.line}:${fault.column} ${fault.message}`,
      }),
    );
  }
  const plugin = details['plugin'];
  return [{ component: typeof plugin === 'string' ? `root/${plugin}` : 'root', message }];
}

function requirementsOf(
  { config }: LoadedConfig,
  { endpoints }: Candidate,
): readonly { readonly component: string; readonly met: boolean; readonly reason: string }[] {
  const wanted = config.http.readiness;
  return [
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
