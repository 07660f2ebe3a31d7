// Ajv as the configuration uses it: JSON Schema 2020-12, strict, all errors reported, defaults filled in.
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

const SDK_FORMATS = ['svc-secret', 'svc-duration', 'svc-when', 'svc-rest', 'svc-user', 'svc-conversation', 'svc-message'];

export function compileValidator(schema: object): { readonly ajv: Ajv2020; readonly validate: ValidateFunction } {
  const ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    allowUnionTypes: true,
    useDefaults: true,
    logger: false,
    unicode: false,
    code: { source: true, esm: true },
    formats: Object.fromEntries(SDK_FORMATS.map((name) => [name, true])),
  });
  return { ajv, validate: ajv.compile(schema) };
}
