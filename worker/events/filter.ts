// The filter of a client: `types=endpoint.*,ready.changed` and `endpoints=root/irc:irc~libera`, compiled once.
// Equal filters have the same canonical text, so their clients share encoded batches.
import { SvcError } from '../../shared/svc-error.ts';

export interface EventFilter {
  /** Equal for filters that accept the same events. Empty: accepts everything. */
  readonly canonical: string;
  matches(type: string, endpoint: string | null): boolean;
}

const MAX_ENTRIES = 50;
const MAX_ENTRY_LENGTH = 200;
const TYPE_PATTERN = /^(\*|[a-z][a-z0-9_-]*(\.[a-z0-9][a-z0-9_-]*)*(\.\*)?)$/;
const ENDPOINT_PATTERN = /^[\x21-\x2b\x2d-\x7e]+$/;

/** Compiles the two query parameters. Throws `invalid_request` with the parameter that has a malformed entry. */
export function compileFilter(types: string | undefined, endpoints: string | undefined): EventFilter {
  const patterns = entriesOf('types', types, TYPE_PATTERN);
  const wanted = entriesOf('endpoints', endpoints, ENDPOINT_PATTERN);
  const anyType = patterns.length === 0 || patterns.includes('*');
  const typeTest = anyType ? () => true : testOfTypes(patterns);
  const endpointTest = wanted.length === 0 ? () => true : testOfEndpoints(wanted);
  return {
    canonical: anyType && wanted.length === 0 ? '' : `${anyType ? '' : patterns.join(',')}&${wanted.join(',')}`,
    matches: (type, endpoint) => typeTest(type) && endpointTest(endpoint),
  };
}

function entriesOf(name: string, text: string | undefined, pattern: RegExp): readonly string[] {
  const entries = [
    ...new Set(
      (text ?? '')
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    ),
  ].sort();
  if (entries.length > MAX_ENTRIES)
    throw new SvcError('invalid_request', `${name} takes at most ${MAX_ENTRIES} entries`);
  const wrong = entries.find((entry) => entry.length > MAX_ENTRY_LENGTH || !pattern.test(entry));
  if (wrong !== undefined)
    throw new SvcError('invalid_request', `${name} has an entry that is not one`, {
      hint: 'for example types=endpoint.*,ready.changed',
    });
  return entries;
}

function testOfTypes(patterns: readonly string[]): (type: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith('.*')));
  const prefixes = patterns.filter((pattern) => pattern.endsWith('.*')).map((pattern) => pattern.slice(0, -1));
  return (type) => exact.has(type) || prefixes.some((prefix) => type.startsWith(prefix));
}

/** An endpoint matches by its full name (`root/irc:irc~libera`) or its short name (`irc~libera`). */
function testOfEndpoints(wanted: readonly string[]): (endpoint: string | null) => boolean {
  const names = new Set(wanted);
  return (endpoint) =>
    endpoint !== null && (names.has(endpoint) || names.has(endpoint.slice(endpoint.indexOf(':') + 1)));
}
