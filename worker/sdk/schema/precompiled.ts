// Compiled validators of svc's own schemas, by the text of the explicit schema. This module is empty. The build replaces it by one with the same
// export. So a host with only built-in plugins does not load Ajv.
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { Mode } from './ajv-engine.ts';

export const PRECOMPILED: Readonly<Record<Mode, Readonly<Record<string, () => ValidateFunction>>>> = {
  all: {},
  first: {},
};
