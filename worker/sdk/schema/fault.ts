// Translates Ajv's errors for the author of a value: a path, and the expectation there.
import type { ErrorObject } from 'ajv/dist/2020.js';
import type { FaultTexts } from '../text/chat-texts.ts';
import type { Kind } from './explicit-schema.ts';

export interface Fault {
  /** JSON pointer into the value; empty for the value itself. */
  readonly path: string;
  readonly message: string;
  /** The same without the given value, for answers that must not repeat it. */
  readonly expected: string;
}

type Json = Readonly<Record<string, unknown>>;

/** At most one fault for each path. A fault inside a user, conversation, message or duration is reported for the whole value. */
export function faultsOf(errors: readonly ErrorObject[], texts: FaultTexts): readonly Fault[] {
  // Bounded by the schema: a stranger's list may have any number of such errors.
  const kinds = [...new Set(errors.flatMap((one) => (one.keyword === 'svcKind' ? [`${one.schemaPath}/`] : [])))];
  const faults = new Map<string, Fault>();
  for (const error of errors) {
    if (kinds.some((kind) => error.schemaPath.startsWith(kind))) continue;
    const fault = describe(error, texts);
    if (!faults.has(fault.path)) faults.set(fault.path, fault);
  }
  return [...faults.values()];
}

function describe(
  { keyword, instancePath, params, parentSchema = {}, message = 'does not fit', data }: ErrorObject,
  texts: FaultTexts,
): Fault {
  const at = (key: unknown): string => `${instancePath}/${String(key).replace(/~/g, '~0').replace(/\//g, '~1')}`;
  if (keyword === 'required') return faultAt(at(params['missingProperty']), texts.missing);
  if (keyword === 'additionalProperties') {
    const known = Object.keys((parentSchema['properties'] as object | undefined) ?? {});
    return faultAt(at(params['additionalProperty']), texts.unknownKey(known.join(', ')));
  }
  const expected = texts.expected(expectation(keyword, params, { schema: parentSchema, texts }) ?? message);
  return faultAt(instancePath, expected, parentSchema['svcKind'] === 'secret' ? '' : got(data, texts));
}

export const faultAt = (path: string, expected: string, given = ''): Fault => ({
  path,
  message: `${expected}${given}`,
  expected,
});

function expectation(
  keyword: string,
  params: Json,
  { schema, texts }: { readonly schema: Json; readonly texts: FaultTexts },
): string | undefined {
  const limit = String(params['limit']);
  switch (keyword) {
    case 'svcKind':
      return texts[schema['svcKind'] as Kind];
    case 'type':
      return [params['type']]
        .flat()
        .map((type) => (isType(type) ? texts[type] : String(type)))
        .join(texts.or);
    case 'enum':
      return texts.oneOf((params['allowedValues'] as readonly unknown[]).join(', '));
    case 'const':
      return JSON.stringify(params['allowedValue']);
    case 'minimum':
      return texts.atLeast(limit);
    case 'maximum':
      return texts.atMost(limit);
    case 'minLength':
    case 'maxLength':
      return (keyword === 'minLength' ? texts.atLeast : texts.atMost)(texts.characters(limit));
    case 'minItems':
    case 'maxItems':
      return (keyword === 'minItems' ? texts.atLeast : texts.atMost)(texts.items(limit));
    case 'pattern':
      return texts.like(String(params['pattern']));
    case 'format':
      return texts.format(String(params['format']));
    default:
      return undefined;
  }
}

const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object', 'null'] as const;
const isType = (type: unknown): type is (typeof TYPES)[number] => (TYPES as readonly unknown[]).includes(type);

/** The given value, if it is short enough to quote. */
function got(value: unknown, texts: FaultTexts): string {
  const shown = isObject(value)
    ? texts.object
    : Array.isArray(value)
      ? texts.listOf(value.length)
      : JSON.stringify(value);
  return shown === undefined || shown.length > 60 ? '' : texts.got(shown);
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
