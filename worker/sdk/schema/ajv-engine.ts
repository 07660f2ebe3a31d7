// Ajv (2020-12, strict) for the SDK. Importing it costs 30 ms of the start, so it is loaded at the first schema without a compiled validator.
import { createRequire } from 'node:module';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { loadAjv } from '../../../shared/load-ajv.ts';
import { KINDS, type Kind } from './explicit-schema.ts';
import { isMatch } from './limited-match.ts';

/** 'all' reports every fault, for people who wrote the value. 'first' stops at one, for values of strangers: those may have a million faults. */
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

/** The pattern engine for Ajv, with a time limit: the text may come from a stranger. */
const limitedPattern = Object.assign(
  (source: string, flags: string) => {
    const pattern = new RegExp(source, flags);
    return { test: (text: string) => isMatch(pattern, text), toString: () => String(pattern) };
  },
  { code: 'limitedPattern' },
);
