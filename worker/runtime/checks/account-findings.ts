// Findings about accounts that need no request to a platform. Examples are an account that can never work, and two entries for one account.
import { type ConfigFault, dotted, faultLine } from '../../../shared/config/fault.ts';
import { type LoadedConfig, locate } from '../../../shared/config/load.ts';
import { isRecord } from '../../../shared/config/schema/json-schema.ts';
import { CONFIG_FILE } from '../../../shared/files/paths.ts';
import { messageOf } from '../../../shared/svc-error.ts';
import { type Core, maskedText } from '../../core/core.ts';
import type { EndpointSpec } from '../../endpoints/endpoint-runner.ts';
import { isOptional } from '../../sdk/schema/optional.ts';
import { isSecret } from '../../sdk/secret.ts';

export interface AccountFindings {
  readonly faults: readonly ConfigFault[];
  /** Adapters whose own check threw. A start accepts their accounts anyway. */
  readonly warnings: readonly string[];
}

interface Accounts {
  readonly candidate: { readonly endpoints: readonly EndpointSpec[] };
  readonly loaded: LoadedConfig;
}

/** All findings as warnings. None in mode test, which invents missing secrets. */
export function accountWarnings(core: Pick<Core, 'mask'>, { candidate, loaded }: Accounts): readonly string[] {
  if (loaded.mode === 'test') return [];
  const { faults, warnings } = accountFaults(candidate.endpoints, loaded);
  const all = [...faults.map(faultLine), ...warnings, ...doubleAccounts(candidate.endpoints, loaded)];
  return all.map((warning) => maskedText(core, warning));
}

/** Applies each adapter's own check. Disabled accounts may be incomplete and are skipped. */
export function accountFaults(endpoints: readonly EndpointSpec[], loaded: LoadedConfig): AccountFindings {
  const faults: ConfigFault[] = [];
  const warnings: string[] = [];
  for (const spec of endpoints.filter(isOn(loaded))) {
    const at = (message: string): ConfigFault => locate({ path: pointerOf(spec, loaded), message }, loaded);
    try {
      const fault = spec.adapter.fault?.(spec.values);
      if (fault !== undefined) faults.push(at(`cannot work: ${fault.reason}; ${fault.remedy}`));
    } catch (error) {
      warnings.push(faultLine(at(`could not be judged: fault() of ${spec.adapter.name} failed: ${messageOf(error)}`)));
    }
  }
  return { faults, warnings };
}

/** A platform delivers each message to one of two connections of an account only, or closes the other connection. */
export function doubleAccounts(endpoints: readonly EndpointSpec[], loaded: LoadedConfig): string[] {
  const first = new Map<string, EndpointSpec>();
  return endpoints.filter(isOn(loaded)).flatMap((spec) => {
    const { named, key } = identityOf(spec);
    const other = key === undefined ? undefined : first.get(key);
    if (key !== undefined && other === undefined) first.set(key, spec);
    if (other === undefined) return [];
    const [here, there] = [placeOf(spec, loaded), placeOf(other, loaded)];
    const both = `at ${spec.adapter.name} both are one account: take one out, or give it one of its own`;
    return [`${here.at} ${here.name} has the ${named} of ${there.name} (${there.at}): ${both}`];
  });
}

const isOn =
  ({ config }: LoadedConfig) =>
  ({ slot, enabled }: EndpointSpec): boolean =>
    enabled && config.plugins[slot]?.enabled === true;

/**
 * An account is identified by its required texts and secrets, or by all its keys if none are required.
 * Without a required secret, port and login count too, because an IRC bouncer serves many networks under one name.
 */
function identityOf({ adapter, values }: EndpointSpec): { readonly named: string; readonly key: string | undefined } {
  const needed = Object.entries(adapter.account).flatMap(([key, schema]) => {
    const value = values[key];
    return !isOptional(schema) && (typeof value === 'string' || isSecret(value)) ? [key] : [];
  });
  const isBySecret = needed.some((name) => isSecret(values[name]));
  const named = Object.keys(adapter.account).filter((name) => values[name] !== undefined);
  const ofLogin = named.filter((name) => isOfLogin(name, values[name]));
  const keys = needed.length === 0 ? named : isBySecret ? needed : ofLogin;
  const key = JSON.stringify([adapter.name, ...keys.map((name) => [name, plain(values[name])])]);
  // Accounts without any key are told apart by their slots.
  return { named: needed.length > 0 ? needed.join(' and ') : 'keys', key: keys.length === 0 ? undefined : key };
}

const isOfLogin = (name: string, value: unknown): boolean =>
  name === 'port' || typeof value === 'string' || isSecret(value) || isRecord(value);

/** Reveals secrets, because the JSON of a secret is only a mask. */
function plain(value: unknown): unknown {
  if (isSecret(value)) return value.reveal();
  if (Array.isArray(value)) return value.map(plain);
  return isRecord(value) ? Object.entries(value).map(([key, inner]) => [key, plain(inner)]) : value;
}

function pointerOf({ slot, account }: EndpointSpec, { config }: LoadedConfig): string {
  const index = config.plugins[slot]?.endpoints?.findIndex(({ id }) => id === account) ?? -1;
  return index === -1 ? `/plugins/${slot}` : `/plugins/${slot}/endpoints/${index}`;
}

function placeOf(spec: EndpointSpec, loaded: LoadedConfig): { readonly name: string; readonly at: string } {
  const { path, line, column } = locate({ path: pointerOf(spec, loaded), message: '' }, loaded);
  return { name: dotted(path), at: `${CONFIG_FILE}:${line}:${column}` };
}
