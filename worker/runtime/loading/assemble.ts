// Turns a configuration into a candidate generation: loads plugins, checks their keys, runs `setup`, expands accounts.
// The candidate does not serve yet, so an error here does not affect the serving generation.
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
  /** Ids, in the order in which handlers are asked. */
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
  /** Gets the secrets in plugin keys before code of the plugin runs, to mask them in logs. */
  readonly secrets?: (texts: readonly string[]) => void;
  /** Optional parts that this host has. */
  readonly parts: readonly string[];
  /** Only checks keys and sets up no plugin. The candidate cannot be used. */
  readonly keysOnly?: true;
  /** Modules by slot that replace loaded ones, for tests. */
  readonly modules?: Readonly<Record<string, unknown>>;
}

/** Also collects the secret keys of slots, and the slots whose keys are known. */
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

/** Throws SvcError: `config_invalid` with the faults of all slots, `plugin_failed` or `definition_invalid` with the slot. */
export async function assemble(options: AssembleOptions): Promise<Candidate> {
  const { candidate, error } = await assembleAll(options);
  if (error === undefined) return candidate;
  candidate.abort.abort();
  throw error;
}

/** Assembles as much as possible: failed slots are left out, and one error lists them all. */
export async function assembleAll(given: AssembleOptions): Promise<{
  readonly candidate: Candidate;
  readonly error: SvcError | undefined;
  readonly variables: SecretVariables;
}> {
  const options = { ...given, secretKeys: new Set(given.loaded.secretKeys), known: new Set<string>() };
  withhold(options);
  const registered: Registered = {
    capabilities: new Capabilities(),
    gauges: [],
    languages: [],
    counters: [],
    resources: [],
  };
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
    await refuseBadDefinitions(registered.capabilities, options.loaded.config.commands.prefix);
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

/** Keeps variables that hold secrets out of the environment of child processes that plugins start. */
function withhold({ loaded, secretKeys, known }: Assembling): SecretVariables {
  const variables = secretVariables(loaded.references, { secretKeys, slots: known });
  keepFromChildren(variables);
  return variables;
}

/** All keys of the slot are checked. Variables of the slot without secrets may now reach child processes. */
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
  const found: LoadedModule | undefined =
    given === undefined ? await loadNamed(options, { slot, use }) : { module: given, source: 'project' };
  if (found === undefined) return; // the slot stays unjudged
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
): Promise<LoadedModule | undefined> {
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

/** An account as written in the file. */
interface Account extends Pick<EndpointSpec, 'account' | 'enabled'> {
  readonly pointer: string;
  readonly value: unknown;
}

/** Adds a plugin of the host. It has no keys, so the configuration does not name its slot. */
export async function addHiddenPlugin(
  candidate: Candidate,
  { slot, module, log }: { readonly slot: string; readonly module: unknown; readonly log: Logger },
): Promise<void> {
  const plugin = readPlugin(module);
  const setup = makeSetup({
    slot,
    config: {},
    log,
    signal: candidate.abort.signal,
    uses: plugin.uses ?? [], // it asks before it uses a part that the host may not have
    registered: candidate,
  });
  await plugin.setup(setup as never);
  (setup as { '~close'(): void })['~close']();
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
  // Checks the slot's own keys beside its accounts: only keys of the host are allowed.
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

/** Includes the resolved secrets, so a rotated token reconnects the account. Only the digest is kept. */
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
