// Validators of the schemas that come with svc, by the text of the explicit schema. None here: the build puts a module with the same
// export in the place of this one, so that a host with nothing but built-in plugins loads no compiler.
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Mode } from './ajv-engine.ts';

export const PRECOMPILED: Readonly<Record<Mode, Readonly<Record<string, ValidateFunction>>>> = { all: {}, first: {} };
