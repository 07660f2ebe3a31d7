// Describes how a body breaks its schema: path and expectation, never the value. Alternatives at a path become one fault that lists them.
import type { ErrorObject } from 'ajv';

const MOST_FAULTS = 5;
const LONGEST_PLACE = 100;

/** One line per fault, by path. */
export function bodyFaults(errors: readonly ErrorObject[]): readonly string[] {
  const plain = errors.filter((error) => !isChoice(error));
  // "No alternative matches" is dropped when the faults of the alternatives say more.
  const faults = (plain.length > 0 ? plain : errors).map(
    (error) => `${placeOf(error)} ${isAlternative(error) ? alternativesAt(error, plain) : expectationOf(error)}`,
  );
  return [...new Set(faults)].slice(0, MOST_FAULTS);
}

const isChoice = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf';
const isAlternative = ({ keyword }: ErrorObject): boolean => ['const', 'enum', 'type'].includes(keyword);

const placeOf = ({ instancePath }: ErrorObject): string =>
  instancePath === '' ? 'the body' : instancePath.slice(0, LONGEST_PLACE);

/** The validator stops at the first fault. So several faults at one path belong to different alternatives. */
function alternativesAt({ instancePath }: ErrorObject, errors: readonly ErrorObject[]): string {
  const here = errors.filter((error) => error.instancePath === instancePath);
  const words = [...new Set(here.flatMap(wordsOf))];
  const kinds = [...new Set(here.flatMap(({ keyword, params }) => (keyword === 'type' ? params['type'] : [])))];
  const others = kinds.filter((kind) => !words.some((word) => typeof word === kind)); // a type that the listed values already show is left out
  const listed = words.map((word) => JSON.stringify(word));
  return `must be ${[listed.length > 1 ? `one of ${listed.join(', ')}` : listed, others].flat().join(' or ')}`;
}

/** The allowed values of a constant or an enumeration. */
const wordsOf = ({ keyword, params }: ErrorObject): readonly unknown[] =>
  keyword === 'const' ? [params['allowedValue']] : keyword === 'enum' ? (params['allowedValues'] as unknown[]) : [];

function expectationOf({ params, message }: ErrorObject): string {
  const known = typeof params['additionalProperty'] === 'string' ? ' (an unknown key)' : '';
  return `${message ?? 'does not fit'}${known}`;
}
