// What is wrong with a body, by its schema: place and expectation, never the value. A choice of several is one fault that names what may be chosen.
import type { ErrorObject } from 'ajv';

const MOST_FAULTS = 5;
const LONGEST_PLACE = 100;

/** A line each, by place. */
export function bodyFaults(errors: readonly ErrorObject[]): readonly string[] {
  const plain = errors.filter((error) => !isChoice(error));
  // That none of several fits is said by what each of them wants.
  const faults = (plain.length > 0 ? plain : errors).map(
    (error) => `${placeOf(error)} ${isAlternative(error) ? alternativesAt(error, plain) : expectationOf(error)}`,
  );
  return [...new Set(faults)].slice(0, MOST_FAULTS);
}

const isChoice = ({ keyword }: ErrorObject): boolean => keyword === 'anyOf' || keyword === 'oneOf';
const isAlternative = ({ keyword }: ErrorObject): boolean => ['const', 'enum', 'type'].includes(keyword);

const placeOf = ({ instancePath }: ErrorObject): string =>
  instancePath === '' ? 'the body' : instancePath.slice(0, LONGEST_PLACE);

/** The validator stops at the first fault: where there are several of one place, each is of another alternative. */
function alternativesAt({ instancePath }: ErrorObject, errors: readonly ErrorObject[]): string {
  const here = errors.filter((error) => error.instancePath === instancePath);
  const words = [...new Set(here.flatMap(wordsOf))];
  const kinds = [...new Set(here.flatMap(({ keyword, params }) => (keyword === 'type' ? params['type'] : [])))];
  const others = kinds.filter((kind) => !words.some((word) => typeof word === kind)); // what a word is by itself is not said
  const listed = words.map((word) => JSON.stringify(word));
  return `must be ${[listed.length > 1 ? `one of ${listed.join(', ')}` : listed, others].flat().join(' or ')}`;
}

/** Of a constant or an enumeration. */
const wordsOf = ({ keyword, params }: ErrorObject): readonly unknown[] =>
  keyword === 'const' ? [params['allowedValue']] : keyword === 'enum' ? (params['allowedValues'] as unknown[]) : [];

function expectationOf({ params, message }: ErrorObject): string {
  const known = typeof params['additionalProperty'] === 'string' ? ' (an unknown key)' : '';
  return `${message ?? 'does not fit'}${known}`;
}
