// What keeps plugins from being assembled, of all slots as one error: whoever mends a configuration sees all of it at once.
import { type ConfigFault, configError, faultLine } from '../../../shared/config/fault.ts';
import { type LoadedConfig, locate } from '../../../shared/config/load.ts';
import { ownerOf } from '../../../shared/identifiers.ts';
import { coerceError, messageOf, SvcError } from '../../../shared/svc-error.ts';
import { type Core, reasonOf } from '../../core/core.ts';

/** What failed beside the error that it is a detail of. */
export interface AlsoFailed {
  readonly message: string;
  readonly hint?: string;
  readonly plugin?: string;
}

/** What is wrong with the configuration goes first, all of it in one; else the first error. The others are in its details. */
export function together(errors: readonly [SvcError, ...SvcError[]]): SvcError {
  const [first, ...rest] = errors;
  const faults = errors.flatMap(faultsOf);
  if (faults.length === 0) return rest.length === 0 ? first : withOthers(first, rest);
  const inOrder = faults.toSorted((a, b) => a.line - b.line || a.column - b.column);
  const others = errors.filter((error) => faultsOf(error).length === 0);
  const error = configError(inOrder, 'config_invalid');
  return others.length === 0 ? error : withOthers(error, others);
}

/** What `make` gives for each; where it throws for some, one error with all that it threw. */
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

/** What names no plugin, with its place in the file and the nearest name. */
export function placed(error: unknown, slot: string, loaded: LoadedConfig): unknown {
  if (!(error instanceof SvcError) || error.details['names'] === undefined) return error;
  const { code, message, hint, details } = error;
  const { suggestion } = details as { readonly suggestion?: string };
  const path = `/plugins/${slot}${loaded.config.plugins[slot]?.use === undefined ? '' : '/use'}`;
  const finding = { path, message: `names no plugin: ${message}`, ...(suggestion === undefined ? {} : { suggestion }) };
  return new SvcError(code, faultLine(locate(finding, loaded)), {
    cause: error,
    details,
    ...(hint === undefined ? {} : { hint }),
  });
}

/** The same error, unless its texts quote a secret or a path of the machine: it is stored, shown in readiness and answered over HTTP. */
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

/** What code that is not the host's has thrown, with its stack, for the log; undefined where the message says all there is. */
export function foreignCause(error: unknown): unknown {
  return error instanceof SvcError ? foreignCause(error.cause) : error;
}

/** Of an error that `together` gave: what failed beside the faults and the error itself. */
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

/** What failed, with the slot that it failed in. */
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

/** What a module is, or why it is none, naming its slot. */
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
