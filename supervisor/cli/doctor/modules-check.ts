// Checks that the installed packages fit this Node: SQLite is the one with native code.
import { trySqlite } from '../../../shared/sqlite.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { type Finding, fault, ok, type Subject } from './check.ts';

export function nodeModules({ node }: Subject): Finding {
  try {
    trySqlite();
    return ok(`SQLite works on Node ${node}`);
  } catch (error) {
    return isModulesFault(error) ? modulesFinding(error) : fault(`SQLite does not work: ${messageOf(error)}`, 'npm ci');
  }
}

export const isModulesFault = (error: unknown): error is SvcError =>
  error instanceof SvcError && error.code === 'modules_unusable';

/** The sentence that a start ends with, in its two halves. */
export const modulesFinding = ({ details }: SvcError): Finding =>
  fault(String(details['reason']), String(details['remedy']));
