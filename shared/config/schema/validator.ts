// The validator of the configuration, compiled from the schema at first use.
//
// The build replaces this module by a precompiled one with the same exports. A bundle then loads neither TypeBox nor Ajv's compiler.
import type { ErrorObject } from 'ajv';
import { compileValidator } from './compile-validator.ts';
import type { JsonSchema } from './json-schema.ts';
import { configSchema as schema } from './schema.ts';

export const configSchema = schema as unknown as JsonSchema;

let compiled: ReturnType<typeof compileValidator>['validate'] | undefined;

/** Fills in defaults in place and returns all errors. */
export function validateConfig(value: unknown): readonly ErrorObject[] {
  compiled ??= compileValidator(schema).validate;
  return compiled(value) ? [] : (compiled.errors ?? []);
}
