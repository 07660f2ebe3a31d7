// Ajv at its first use: importing it costs 30 ms of a start. By `require` alone: while one part of a program imports a CommonJS module
// and another requires it, Node may hand out the module without its names.
import { createRequire } from 'node:module';
import type { Ajv2020 } from 'ajv/dist/2020.js';

export function loadAjv(): typeof Ajv2020 {
  const require = createRequire(import.meta.url);
  return (require('ajv/dist/2020') as typeof import('ajv/dist/2020.js')).Ajv2020;
}
