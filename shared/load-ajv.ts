// Loads Ajv at first use, because its import takes 30 ms of a start. All parts of the program must use `require` for it.
// If one part imports a CommonJS module while another requires it, Node may return it without its named exports.
import { createRequire } from 'node:module';
import type { Ajv2020 } from 'ajv/dist/2020.js';

export function loadAjv(): typeof Ajv2020 {
  const require = createRequire(import.meta.url);
  return (require('ajv/dist/2020') as typeof import('ajv/dist/2020.js')).Ajv2020;
}
