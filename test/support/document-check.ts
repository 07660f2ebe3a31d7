// Answers against the document of the interface, read as closed: a field that it does not name is a fault.
import { Ajv2020 } from 'ajv/dist/2020.js';

interface Document {
  readonly paths: Record<string, { readonly get: { readonly responses: Record<string, Documented> } }>;
}
interface Documented {
  readonly content: Record<string, { readonly schema: { readonly $ref: string } }>;
}

/** Gives what is wrong with the answer of 200 to a GET of the route, or ''. */
export function documentCheck(text: string): (route: string, answer: unknown) => string {
  const document = JSON.parse(text, closed) as Document;
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(document, 'document');
  return (route, answer) => {
    const ref = document.paths[route]?.get.responses['200']?.content['application/json']?.schema.$ref;
    const validate = ajv.compile({ $ref: `document${ref}` });
    return validate(answer) ? '' : `${route}: ${ajv.errorsText(validate.errors)}`;
  };
}

const closed = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'properties' in value && 'type' in value && value.type === 'object'
    ? { ...value, additionalProperties: false }
    : value;
