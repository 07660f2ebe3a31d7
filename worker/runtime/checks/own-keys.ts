// The keys that a plugin or an adapter names for itself: which it cannot have, and what is wrong with what it gives them.
import type { TProperties } from 'typebox';
import { type CheckedKeys, ENDPOINT_KEYS, SLOT_KEYS } from '../../../shared/config/checks/plugin-keys.ts';
import { sharedSecrets } from '../../../shared/config/checks/shared-secrets.ts';
import { configError } from '../../../shared/config/fault.ts';
import { type LoadedConfig, locate } from '../../../shared/config/load.ts';
import { ownerOf } from '../../../shared/identifiers.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { faultOfSchemas } from './spec-shapes.ts';

/** An account may stand in `endpoints` or, alone, in the slot itself. */
const HOST_KEYS = { plugin: SLOT_KEYS, adapter: [...new Set([...ENDPOINT_KEYS, ...SLOT_KEYS])] } as const;

/** Throws `definition_invalid` for what are no schemas, and for keys that the host reads itself: they never come to a plugin. */
export function refuseHostKeys(slot: string, kind: keyof typeof HOST_KEYS, properties: TProperties): void {
  const fault = faultOfSchemas(properties);
  if (fault !== undefined)
    throw new SvcError('definition_invalid', `${ownerOf(slot)}: ${kind === 'plugin' ? 'config' : 'account'} ${fault}`, {
      details: { plugin: slot },
    });
  const hidden = HOST_KEYS[kind].find((key) => Object.hasOwn(properties, key));
  if (hidden === undefined) return;
  const what = `its own key "${hidden}" could never be reached: ${HOST_KEYS[kind].join(', ')} are the host's`;
  throw new SvcError('definition_invalid', `${ownerOf(slot)}: ${what}`, {
    hint: 'give it another name',
    details: { plugin: slot },
  });
}

/** What is wrong with the configuration goes first: `config_invalid`, else `definition_invalid` for a default of the definition. */
export function refusedKeys({ faults, badDefaults }: CheckedKeys & { readonly ok: false }, slot: string): SvcError {
  const [bad] = badDefaults;
  if (bad === undefined || faults.length > 0) return configError(faults, 'config_invalid');
  const what = `the default of its key ${bad.key} does not fit its own schema: ${bad.message}`;
  return new SvcError('definition_invalid', `${ownerOf(slot)}: ${what}`, {
    hint: 'give the key in svc.config.yml until the plugin is mended',
    details: { plugin: slot },
  });
}

/** Now that every secret key is known: none or one error, with each key that takes the variable of one and is none. */
export function sharedSecretErrors(loaded: LoadedConfig, secretKeys: ReadonlySet<string>): readonly SvcError[] {
  const faults = sharedSecrets(loaded.references, secretKeys).map((finding) => locate(finding, loaded));
  return faults.length === 0 ? [] : [configError(faults, 'config_invalid')];
}
