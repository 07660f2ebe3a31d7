// Checks the configuration keys that a plugin or an adapter defines, and their values.
import type { TProperties } from 'typebox';
import { type CheckedKeys, ENDPOINT_KEYS, SLOT_KEYS } from '../../../shared/config/checks/plugin-keys.ts';
import { sharedSecrets } from '../../../shared/config/checks/shared-secrets.ts';
import { configError } from '../../../shared/config/fault.ts';
import { type LoadedConfig, locate } from '../../../shared/config/load.ts';
import { ownerOf } from '../../../shared/identifiers.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { faultOfSchemas } from './spec-shapes.ts';

/** An account may be listed in `endpoints`, or be given alone in the slot itself. */
const HOST_KEYS = { plugin: SLOT_KEYS, adapter: [...new Set([...ENDPOINT_KEYS, ...SLOT_KEYS])] } as const;

/** Throws `definition_invalid` for invalid schemas and for keys that the host reads itself, which never reach a plugin. */
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

/** Faults of the configuration come first (`config_invalid`), then an invalid default of the definition (`definition_invalid`). */
export function refusedKeys({ faults, badDefaults }: CheckedKeys & { readonly ok: false }, slot: string): SvcError {
  const [bad] = badDefaults;
  if (bad === undefined || faults.length > 0) return configError(faults, 'config_invalid');
  const what = `the default of its key ${bad.key} does not fit its own schema: ${bad.message}`;
  return new SvcError('definition_invalid', `${ownerOf(slot)}: ${what}`, {
    hint: 'give the key in svc.config.yml until the plugin is mended',
    details: { plugin: slot },
  });
}

/** Runs once all secret keys are known. Returns at most one error, with each other key that uses the variable of a secret. */
export function sharedSecretErrors(loaded: LoadedConfig, secretKeys: ReadonlySet<string>): readonly SvcError[] {
  const faults = sharedSecrets(loaded.references, secretKeys).map((finding) => locate(finding, loaded));
  return faults.length === 0 ? [] : [configError(faults, 'config_invalid')];
}
