// The validator of the configuration, compiled while building: a start loads neither Ajv's compiler nor TypeBox for it.
import type { Plugin } from 'esbuild';

export const compiledValidator: Plugin = { name: 'compiled-validator', setup() {} };
