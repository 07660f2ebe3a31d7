// Source texts that the build writes: the precompiled validator and the schema for editors. Runtime code never imports this file.
import type { ValidateFunction } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { compileValidator } from './compile-validator.ts';
import type { JsonSchema } from './json-schema.ts';
import { publishedSchema } from './published-schema.ts';
import { configSchema } from './schema.ts';

type StandaloneCode = (ajv: unknown, validate: ValidateFunction) => string;

/** An ES module with the exports of the validator module that the build replaces. It has no imports. */
export function validatorModuleSource(): string {
  const { ajv, validate } = compileValidator(configSchema);
  // The package is CommonJS. Depending on the loader, the function is the default export or nested in it.
  const emit = ((standalone as { default?: unknown }).default ?? standalone) as StandaloneCode;
  return [
    emit(ajv, validate),
    `export const configSchema = ${JSON.stringify(configSchema)};`,
    'export function validateConfig(value) { return validate(value) ? [] : (validate.errors ?? []); }',
    '',
  ].join('\n');
}

/** Text of `dist/config-schema.json`. */
export function publishedSchemaText(): string {
  return `${JSON.stringify(publishedSchema(configSchema as unknown as JsonSchema), null, 2)}\n`;
}
