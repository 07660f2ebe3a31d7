// Ajv (2020-12, strict) as the SDK uses it. Importing it costs 30 ms of start: it is loaded at the first schema that no one compiled.
import { createRequire } from 'node:module';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { loadAjv } from '../../../shared/load-ajv.ts';
import { KINDS, type Kind } from './explicit-schema.ts';
import { isMatch } from './limited-match.ts';

/** All faults for people who write a value, the first one for what strangers send: those may send a million. */
export type Mode = 'all' | 'first';

export function createEngine(mode: Mode, { source = false }: { readonly source?: boolean } = {}): Ajv2020 {
  const require = createRequire(import.meta.url);
  const { default: addFormats } = require('ajv-formats') as typeof import('ajv-formats');
  const Engine = loadAjv();
  const ajv = new Engine({
    strict: true,
    allErrors: mode === 'all',
    verbose: true,
    allowUnionTypes: true,
    code: source ? { source: true, esm: true } : { regExp: limitedPattern },
  });
  ajv.addKeyword({ keyword: 'svcKind', macro: (kind: Kind) => KINDS[kind].schema });
  addFormats.default(ajv);
  return ajv;
}

/** What Ajv makes of the `pattern` of a schema; the text that it meets may be a stranger's. */
const limitedPattern = Object.assign(
  (source: string, flags: string) => {
    const pattern = new RegExp(source, flags);
    return { test: (text: string) => isMatch(pattern, text), toString: () => String(pattern) };
  },
  { code: 'limitedPattern' },
);
