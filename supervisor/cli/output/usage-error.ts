// Usage errors: one line, plus the nearest valid word, or all valid words if none is near.
import { nearest } from '../../../shared/config/nearest.ts';
import { SvcError } from '../../../shared/svc-error.ts';

/** A word that is not valid here. */
export function unknownWord(kind: string, word: string, valid: readonly string[]): SvcError {
  const near = nearest(word, valid) ?? valid.find((candidate) => word.length > 1 && candidate.startsWith(word));
  const shown = JSON.stringify(word.slice(0, 60)).slice(1, -1);
  return new SvcError('usage', `unknown ${kind} '${shown}'${near === undefined ? '' : `; did you mean '${near}'?`}`, {
    ...(near === undefined && valid.length > 0 ? { hint: `known are ${valid.join(', ')}` } : {}),
    details: near === undefined ? {} : { nearest: near },
  });
}
