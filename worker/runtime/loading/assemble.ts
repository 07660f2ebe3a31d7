// From a configuration to a candidate generation: plugins are loaded, their keys checked, `setup` run, accounts expanded.
// Nothing of it serves yet; what throws here leaves the serving generation as it is.
import { createHash } from 'node:crypto';
import type { TProperties } from 'typebox';
import { checkPluginKeys } from '../../../shared/config/checks/plugin-keys.ts';
import { keepFromChildren } from '../../../shared/config/environment.ts';
import { configError } from '../../../shared/config/fault.ts';
import { type LoadedConfig, locate } from '../../../shared/config/load.ts';
import { type SecretVariables, secretVariables } from '../../../shared/config/secret-variables.ts';
import { endpointId, endpointName, ownerOf } from '../../../shared/identifiers.ts';
import { coerceError, type SvcError } from '../../../shared/svc-error.ts';
import { guardedSignal, sharedAbort, within } from '../../../shared/time/abort.ts';
import type { EndpointSpec } from '../../endpoints/endpoint-runner.ts';
import { Capabilities } from '../../handling/plan/capabilities.ts';
import { type PluginDefinition, readAdapter, readDefinition, readPlugin } from '../../sdk/definition.ts';
import type { Logger } from '../../sdk/index.ts';
import { check } from '../../sdk/schema/check.ts';
import { refuseBadDefinitions, shadowedCommands } from '../checks/definition-checks.ts';
import { refuseMissingParts } from '../checks/missing-parts.ts';
import { refusedKeys, refuseHostKeys, sharedSecretErrors } from '../checks/own-keys.ts';
import { refuseBadPatterns } from '../generations/cron.ts';
import { allOf, inSlot, namingPlugin, placed, together } from './assembly-errors.ts';
import { type LoadedModule, type LoaderOptions, loadPlugin, type PluginSource } from './plugin-loader.ts';
import { makeSetup, type Registered } from './setup.ts';

export interface PluginInfo {
  readonly slot: string;
  readonly owner: string;
  readonly use: string;
  readonly name: string;
  readonly kind: 'plugin' | 'adapter';
  readonly source: PluginSource;
  /** Ids in the order in which handlers are asked. */
  readonly capabilities: readonly string[];
  readonly endpoints: readonly string[];
}

export interface Candidate extends Registered {
  readonly endpoints: readonly EndpointSpec[];
  readonly plugins: readonly PluginInfo[];
  readonly abort: AbortController;
}

export interface AssembleOptions extends LoaderOptions {
  readonly loaded: LoadedConfig;
  readonly logger: (slot: string) => Logger;
  /** Texts of secrets in plugins' keys, before any code of the plugin sees them: for redaction. */
  readonly secrets?: (texts: readonly string[]) => void;
  /** Optional parts of the host that are there. */
  readonly parts: readonly string[];
  /** Only keys are judged, no plugin is set up: the candidate is none. */
  readonly keysOnly?: true;
  /** Modules given directly instead of loaded, by slot (tests). */
  readonly modules?: Readonly<Record<string, unknown>>;
}

/** With the secret keys that slots turn out to have, and the slots whose keys are known. */
interface Assembling extends AssembleOptions {
  readonly secretKeys: Set<string>;
  readonly known: Set<string>;
}

const SETUP_LIMIT_MS = 5_000;

interface Draft {
  readonly registered: Registered;
  readonly abort: AbortController;
  readonly endpoints: EndpointSpec[];
  readonly plugins: PluginInfo[];
}

/** Throws SvcError: `config_invalid` with the faults of all slots, `plugin_failed` or `definition_invalid` naming the slot. */
export async function assemble(options: AssembleOptions): Promise<Candidate> {
  const { candidate, error } = await assembleAll(options);
  if (error === undefined) return candidate;
  candidate.abort.abort();
  throw error;
}

/** As far as it comes: slots that fail are left out, and one error names them all. */
export async function assembleAll(given: AssembleOptions): Promise<{
  readonly candidate: Candidate;
  readonly error: SvcError | undefined;
  readonly variables: SecretVariables;
}> {
  const options = { ...given, secretKeys: new Set(given.loaded.secretKeys), known: new Set<string>() };
  withhold(options);
  const registered: Registered = { capabilities: new Capabilities(), gauges: [], counters: [], resources: [] };
  const draft: Draft = { registered, abort: sharedAbort(), endpoints: [], plugins: [] };
  const errors: SvcError[] = [];
  for (const [slot, entry] of Object.entries(options.loaded.config.plugins)) {
    if (!entry.enabled) continue;
    try {
      await addSlot(options, draft, { slot, use: entry.use ?? slot });
    } catch (error) {
      errors.push(coerceError(error));
    }
  }
  errors.push(...sharedSecretErrors(options.loaded, options.secretKeys));
  try {
    refuseBadDefinitions(registered.capabilities, options.loaded.config.commands.prefix);
    await refuseBadPatterns(registered.capabilities.ofKind('cron'), options.loaded.config.schedule.timezone);
    for (const { id, slot, name, by } of shadowedCommands(registered.capabilities))
      options
        .logger(slot)
        .warn({ capability: id, name, by }, 'this command is never reached: another one answers first');
    for (const { id, slot } of registered.capabilities.ofKind('tool'))
      options.logger(slot).warn({ capability: id }, 'nothing calls this tool: this version of svc has no agents');
  } catch (error) {
    errors.push(coerceError(error));
  }
  const { abort, endpoints, plugins } = draft;
  const [first, ...rest] = errors;
  return {
    candidate: { ...registered, abort, endpoints, plugins },
    error: first === undefined ? undefined : together([first, ...rest]),
    variables: withhold(options),
  };
}

/** No child process that code of a plugin starts gets a secret of the configuration. */
function withhold({ loaded, secretKeys, known }: Assembling): SecretVariables {
  const variables = secretVariables(loaded.references, { secretKeys, slots: known });
  keepFromChildren(variables);
  return variables;
}

/** All keys of a slot were judged: what of its variables is no secret, its code may hand to child processes. */
function judged(options: Assembling, slot: string): void {
  options.known.add(slot);
  withhold(options);
}

async function addSlot(
  options: Assembling,
  draft: Draft,
  { slot, use }: { readonly slot: string; readonly use: string },
): Promise<void> {
  const given = options.modules?.[slot];
  const found: LoadedModule =
    given === undefined ? await loadNamed(options, { slot, use }) : { module: given, source: 'project' };
  const before = draft.registered.capabilities.all().length;
  const kind = inSlot(slot, () => readDefinition(found.module).kind);
  const endpoints = kind === 'adapter' ? addAdapter(options, { slot, module: found.module }) : [];
  if (kind !== 'adapter')
    await addPlugin(options, draft, { slot, plugin: inSlot(slot, () => readPlugin(found.module)) });
  draft.endpoints.push(...endpoints);
  draft.plugins.push({
    slot,
    owner: ownerOf(slot),
    use,
    name: (found.module as { name: string }).name,
    kind: kind === 'adapter' ? 'adapter' : 'plugin',
    source: found.source,
    capabilities: draft.registered.capabilities
      .all()
      .slice(before)
      .map(({ id }) => id),
    endpoints: endpoints.map(({ id }) => id),
  });
}

async function loadNamed(
  options: AssembleOptions,
  { slot, use }: { readonly slot: string; readonly use: string },
): Promise<LoadedModule> {
  try {
    return await loadPlugin(use, options);
  } catch (error) {
    throw namingPlugin(placed(error, slot, options.loaded), slot);
  }
}

async function addPlugin(
  options: Assembling,
  draft: Draft,
  { slot, plugin }: { readonly slot: string; readonly plugin: PluginDefinition },
): Promise<void> {
  if (options.loaded.config.plugins[slot]?.endpoints !== undefined) {
    const message = 'is for adapters: this plugin has no accounts';
    throw configError([locate({ path: `/plugins/${slot}/endpoints`, message }, options.loaded)], 'config_invalid');
  }
  refuseHostKeys(slot, 'plugin', plugin.config ?? {});
  const config = keysOf(options, {
    slot,
    pointer: `/plugins/${slot}`,
    properties: plugin.config ?? {},
    value: options.loaded.config.plugins[slot],
    hasAccounts: false,
  });
  judged(options, slot);
  if (options.keysOnly === true) return;
  refuseMissingParts(slot, plugin.uses, options.parts);
  const log = options.logger(slot);
  const setup = makeSetup({
    slot,
    config: Object.freeze(config),
    log,
    signal: guardedSignal(draft.abort.signal, (error) => log.error({ err: error }, 'a listener of p.signal failed')),
    uses: plugin.uses ?? [],
    registered: draft.registered,
  });
  try {
    const end = await within(
      Promise.resolve(plugin.setup(setup as never)).then(() => 'done' as const),
      { ms: SETUP_LIMIT_MS, late: 'late' as const },
    );
    if (end === 'late')
      throw new Error(
        `setup did not return within ${SETUP_LIMIT_MS} ms: it only registers, resources are opened by p.resource`,
      );
  } catch (error) {
    throw namingPlugin(error, slot);
  } finally {
    (setup as { '~close'(): void })['~close']();
  }
}

/** As it stands in the file. */
interface Account extends Pick<EndpointSpec, 'account' | 'enabled'> {
  readonly pointer: string;
  readonly value: unknown;
}

function addAdapter(
  options: Assembling,
  { slot, module }: { readonly slot: string; readonly module: unknown },
): EndpointSpec[] {
  const adapter = inSlot(slot, () => readAdapter(module));
  refuseHostKeys(slot, 'adapter', adapter.account ?? {});
  const entry = options.loaded.config.plugins[slot];
  const accounts = entry?.endpoints?.map((account, index) => ({
    account: account.id,
    enabled: account.enabled,
    pointer: `/plugins/${slot}/endpoints/${index}`,
    value: account,
  }));
  const all = accounts ?? [{ account: undefined, enabled: true, pointer: `/plugins/${slot}`, value: entry }];
  // The slot's own keys beside its accounts: the host's, and no others.
  const judgeSlot = (): EndpointSpec[] => {
    if (accounts !== undefined) keysOf(options, { slot, pointer: `/plugins/${slot}`, properties: {}, value: entry });
    return [];
  };
  const specOf = ({ account, enabled, pointer, value }: Account): EndpointSpec => {
    const values = keysOf(options, { slot, pointer, properties: adapter.account, value });
    const owner = ownerOf(slot);
    const name = endpointName(slot, account);
    return {
      id: endpointId(owner, name),
      owner,
      name,
      slot,
      account,
      adapter,
      values,
      enabled,
      fingerprint: fingerprint(adapter.name, value),
    };
  };
  const specs = allOf([judgeSlot, ...all.map((account) => () => [specOf(account)])], (make) => make()).flat();
  judged(options, slot);
  return specs;
}

/** Secrets count by their resolved text, so that a rotated token reconnects; the digest alone is kept. */
const fingerprint = (adapter: string, value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([adapter, value]))
    .digest('hex');

function keysOf(
  { loaded, secrets, secretKeys }: Assembling,
  {
    slot,
    ...of
  }: {
    readonly slot: string;
    readonly pointer: string;
    readonly properties: TProperties;
    readonly value: unknown;
    readonly hasAccounts?: boolean;
  },
): Readonly<Record<string, unknown>> {
  const checked = checkPluginKeys(loaded, of.pointer, {
    ...of,
    check: (schema, value) => check(schema, value),
  });
  if (!checked.ok) throw refusedKeys(checked, slot);
  secrets?.(checked.secrets);
  for (const key of checked.secretKeys) secretKeys.add(key);
  return checked.value;
}
