// `svc doctor --endpoint <name>`: each adapter checks the named accounts against its platform. Uses no host, lock, port, database or file.
// Only the plugin of that slot is loaded.
import type { CheckedAccount } from '../../../shared/api/account-check.ts';
import type { LoadedConfig } from '../../../shared/config/load.ts';
import { endpointId, endpointName, ownerOf } from '../../../shared/identifiers.ts';
import { SecretRegistry } from '../../../shared/log/redaction.ts';
import { checkAccount } from '../../endpoints/account-check.ts';
import type { EndpointSpec } from '../../endpoints/endpoint-runner.ts';
import { addressOf, publicAddress, takesWebhooks } from '../../ingress/webhook-addresses.ts';
import type { CheckResult } from '../../sdk/index.ts';
import { type AssembleOptions, assemble } from '../loading/assemble.ts';
import type { CheckAccounts } from '../once-types.ts';
import { partNamesOf } from './missing-parts.ts';

/** Number of accounts checked in parallel. */
const AT_ONCE = 5;

export const checkAccounts: CheckAccounts = async ({ loaded, project, mode, endpoint, limitMs, secrets: tell }) => {
  const names = namesIn(loaded);
  const found = names.find(({ name, id }) => name === endpoint || id === endpoint);
  if (found === undefined) return { kind: 'unknown', names: names.map(({ name }) => name) };
  const registry = new SecretRegistry();
  registry.add(loaded.secrets);
  const options = { project, mode, parts: partNamesOf(loaded.config), logger: () => SILENT };
  const of = { loaded, limitMs, mask: (text: string) => registry.mask(text) };
  const accounts = await accountsOf({
    ...options,
    loaded: withSlot(loaded, found.slot),
    secrets: (texts) => {
      registry.add(texts);
      tell?.(texts);
    },
  });
  const asked = accounts.filter(({ name }) => found.name === found.slot || name === found.name);
  return asked.length === 0 ? { kind: 'no accounts' } : { kind: 'checked', accounts: checkAll(asked, of) };
};

interface Name {
  readonly slot: string;
  readonly name: string;
  readonly id: string;
}

/** Names that an operator may give: an account, or a slot for all its accounts. */
function namesIn({ config }: LoadedConfig): readonly Name[] {
  return Object.entries(config.plugins).flatMap(([slot, { endpoints = [] }]) => {
    const names = [slot, ...endpoints.map(({ id }) => endpointName(slot, id))];
    return names.map((name) => ({ slot, name, id: endpointId(ownerOf(slot), name) }));
  });
}

/** Only this slot, enabled: an account can be checked before it is used. */
const withSlot = (loaded: LoadedConfig, slot: string): LoadedConfig => ({
  ...loaded,
  config: { ...loaded.config, plugins: { [slot]: { ...loaded.config.plugins[slot], enabled: true } } },
});

async function accountsOf(options: AssembleOptions): Promise<readonly EndpointSpec[]> {
  const { abort, endpoints } = await assemble(options);
  abort.abort();
  return endpoints;
}

interface Of {
  readonly loaded: LoadedConfig;
  readonly limitMs: number;
  readonly mask: (text: string) => string;
}

/** Yields results in the order of the configuration. */
async function* checkAll(accounts: readonly EndpointSpec[], of: Of): AsyncGenerator<CheckedAccount> {
  for (let at = 0; at < accounts.length; at += AT_ONCE)
    for (const checked of accounts.slice(at, at + AT_ONCE).map((spec) => check(spec, of))) yield await checked;
}

async function check(spec: EndpointSpec, { loaded, limitMs, mask }: Of): Promise<CheckedAccount> {
  const { id, name, slot, adapter, values, enabled } = spec;
  const address = takesWebhooks(spec) ? addressOf(spec, publicAddress(loaded)) : undefined;
  const url = address?.url ?? undefined;
  const checks = await checkAccount({ adapter, account: values, endpoint: id, url, log: SILENT, mask, limitMs });
  return {
    endpoint: id,
    name,
    adapter: adapter.name,
    enabled: enabled && loaded.config.plugins[slot]?.enabled === true,
    checks: address === undefined ? checks : [addressCheck(address), ...checks],
  };
}

function addressCheck({ path, url }: { readonly path: string; readonly url: string | null }): CheckResult {
  if (url === null)
    return {
      name: 'address',
      status: 'error',
      detail: `${path}: where platforms reach this host is not known`,
      remedy: 'set http.publicUrl in svc.config.yml',
    };
  if (!url.startsWith('https:'))
    return {
      name: 'address',
      status: 'warn',
      detail: `${url}: most platforms deliver to https alone`,
      remedy: 'set http.publicUrl to an https address',
    };
  return { name: 'address', status: 'ok', detail: url };
}

const silence = (): void => {};
const SILENT = { debug: silence, info: silence, warn: silence, error: silence };
