// Combines the errors of all slots into one, so that an operator sees every fault of a configuration at once.
import { type ConfigFault, configError } from '../../../shared/config/fault.ts';
import { type LoadedConfig, locate } from '../../../shared/config/load.ts';
import { ownerOf } from '../../../shared/identifiers.ts';
import { coerceError, messageOf, SvcError } from '../../../shared/svc-error.ts';
import { type Core, reasonOf } from '../../core/core.ts';
import { isProjectFile, type NamesNothing } from './find-plugin.ts';

/** A further failure, in the details of the main error. */
export interface AlsoFailed {
  readonly message: string;
  readonly hint?: string;
  readonly plugin?: string;
}

/** All faults of the configuration form one error; without any, the first error counts. The other errors are in its details. */
export function together(errors: readonly [SvcError, ...SvcError[]]): SvcError {
  const [first, ...rest] = errors;
  const faults = errors.flatMap(faultsOf);
  if (faults.length === 0) return rest.length === 0 ? first : withOthers(first, rest);
  const inOrder = faults.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const others = errors.filter((error) => faultsOf(error).length === 0);
  const error = configError(inOrder, 'config_invalid');
  return others.length === 0 ? error : withOthers(error, others);
}

/** Results of `make` for all items. If some throw, one error combines all their errors. */
export function allOf<T, R>(items: readonly T[], make: (item: T) => R): R[] {
  const errors: SvcError[] = [];
  const made = items.flatMap((item) => {
    try {
      return [make(item)];
    } catch (error) {
      errors.push(coerceError(error));
      return [];
    }
  });
  const [first, ...rest] = errors;
  if (first !== undefined) throw together([first, ...rest]);
  return made;
}

/** The error of a name that no plugin has, as a fault of the configuration with its place. Other errors are returned. */
export function placed(error: unknown, slot: string, loaded: LoadedConfig): unknown {
  if (!(error instanceof SvcError) || error.details['names'] === undefined) return error;
  const { suggestion } = error.details as unknown as NamesNothing;
  const isNamed = loaded.config.plugins[slot]?.use !== undefined;
  const shown = suggestion === undefined || isNamed || !isProjectFile(suggestion) ? suggestion : `use: ${suggestion}`;
  const finding = {
    path: `/plugins/${slot}${isNamed ? '/use' : ''}`,
    message: `names no plugin: ${error.message}`,
    ...(shown === undefined ? {} : { suggestion: shown }),
  };
  return configError([locate(finding, loaded)], 'config_invalid');
}

/** The error without secrets and paths of the machine. Such errors are stored, shown in readiness and sent over HTTP. */
export function presentable(core: Pick<Core, 'mask'>, error: SvcError): SvcError {
  const { mask = (text: string) => text } = core;
  const message = reasonOf(core, error);
  const others = alsoFailed(error);
  if (message === error.message && others.length === 0) return error;
  const { code, hint, details } = error;
  const masked = others.map((other) => ({ ...other, message: mask(other.message) }));
  return new SvcError(code, message, {
    cause: error,
    details: others.length === 0 ? details : { ...details, alsoFailed: masked },
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The cause thrown by foreign code, with its stack, for the log. Undefined if the message says everything. */
export function foreignCause(error: unknown): unknown {
  return error instanceof SvcError ? foreignCause(error.cause) : error;
}

/** Further failures in an error from `together`. */
export const alsoFailed = ({ details }: SvcError): readonly AlsoFailed[] =>
  (details['alsoFailed'] as readonly AlsoFailed[] | undefined) ?? [];

const faultsOf = ({ details }: SvcError): readonly ConfigFault[] =>
  Array.isArray(details['faults']) ? (details['faults'] as readonly ConfigFault[]) : [];

function withOthers(error: SvcError, others: readonly SvcError[]): SvcError {
  const { code, message, hint, details } = error;
  return new SvcError(code, message, {
    cause: error,
    details: { ...details, alsoFailed: others.map(plain) },
    ...(hint === undefined ? {} : { hint }),
  });
}

const plain = ({ message, hint, details: { plugin } }: SvcError): AlsoFailed => ({
  message,
  ...(hint === undefined ? {} : { hint }),
  ...(typeof plugin === 'string' ? { plugin } : {}),
});

/** The error with its slot in the details. */
export function namingPlugin(error: unknown, slot: string): SvcError {
  const details = { plugin: slot };
  if (!(error instanceof SvcError))
    return new SvcError('plugin_failed', `setup of ${ownerOf(slot)} failed: ${messageOf(error)}`, {
      cause: error,
      details,
    });
  if (error.details['plugin'] !== undefined || error.details['faults'] !== undefined) return error;
  const { code, message, hint } = error;
  return new SvcError(code, message, {
    cause: error,
    details: { ...error.details, ...details },
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Runs `read`; its error names the slot. */
export function inSlot<T>(slot: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new SvcError('definition_invalid', `${ownerOf(slot)}: ${messageOf(error)}`, {
      cause: error,
      details: { plugin: slot },
    });
  }
}
