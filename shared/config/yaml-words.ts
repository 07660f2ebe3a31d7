// Says of YAML's own errors what to write instead. No message quotes the file, which may hold a secret there.
//
//   YAML-WORDS-1  The first error alone is told: those behind it are mostly its consequences.
import type { YAMLError } from 'yaml';
import { blankBehind } from './fault.ts';

const LONGEST_LOOK = 200;
const COMMENT = 'here # begins a comment';

export interface Problem {
  readonly offset: number;
  readonly message: string;
}

/** The first problem. Undefined without any. */
export function firstProblem(problems: readonly YAMLError[], text: string): Problem | undefined {
  const [first] = problems.toSorted((a, b) => a.pos[0] - b.pos[0]);
  if (first === undefined) return undefined;
  const [offset] = first.pos;
  if (first.code === 'TAG_RESOLVE_FAILED') return { offset, message: TAGS };
  if (first.code === 'TAB_AS_INDENT') return { offset, message: tabs(problems) };
  const comment = commentInBrackets(text, first);
  if (comment !== undefined) return { offset: comment, message: `is not valid YAML: ${COMMENT}${inQuotes('#')}` };
  const said = first.message.split('\n')[0] ?? '';
  return {
    offset,
    message: `is not valid YAML: ${said}${missingBlank(text, offset) || quotesMissing(first, text[offset])}`,
  };
}

export const inQuotes = (mark: string): string => `; a text that begins with ${mark} is written in quotes`;

export const TAGS = `YAML tags are not taken${inQuotes('!')}`;

export const ANCHOR = `is empty: here & begins an anchor${inQuotes('&')}`;

/** What is said of an empty value, if the rest of its line was taken for a comment. Undefined if the value is just left out. */
export const hiddenText = (rest: string): string | undefined =>
  /^[ \t]*#[^\s#]/.test(rest) ? `is empty: ${COMMENT}${inQuotes('#')}` : undefined;

function tabs(problems: readonly YAMLError[]): string {
  const others = problems.filter(({ code }) => code === 'TAB_AS_INDENT').length - 1;
  const also = others === 0 ? '' : `, as ${others === 1 ? 'is one more' : `are ${others} more`}`;
  return `is not valid YAML: this line is indented with a tab${also}; YAML takes blanks alone`;
}

/** The `#` of `[#dev]`, or of `[ #dev ]`: YAML reports the second where it misses the bracket. */
function commentInBrackets(text: string, { message, pos: [offset] }: YAMLError): number | undefined {
  if (message.startsWith('Comments must be separated')) return offset;
  if (!/^Flow (sequence|map) in block collection/.test(message)) return undefined;
  const begin = Math.max(0, offset - LONGEST_LOOK);
  const [line] = /[[{,:][ \t]+#[^\s#][^\n]*\n\s*$/.exec(text.slice(begin, offset)) ?? [];
  return line === undefined ? undefined : offset - line.length + line.indexOf('#');
}

/** Detects a missing space in `key:value`, which YAML reads as one word and reports as another error. */
function missingBlank(text: string, offset: number): string {
  const begin = Math.max(text.lastIndexOf('\n', offset - 1) + 1, offset - LONGEST_LOOK);
  const line = text.slice(begin, offset + LONGEST_LOOK).split('\n', 1)[0] ?? '';
  const [, key] = /(?:^\s*(?:- +)*|[{,]\s*)([A-Za-z_]\w{0,60}):(?![\s/,}\]]|$)/.exec(line) ?? [];
  return key === undefined ? '' : blankBehind(key);
}

/** Advice for a text that YAML took for something else. */
function quotesMissing({ code, message }: YAMLError, mark = ''): string {
  if (code === 'BAD_SCALAR_START') return inQuotes(mark);
  if (code === 'BLOCK_AS_IMPLICIT_KEY') return '; a text with a colon and a blank in it is written in quotes';
  if (code === 'BAD_DQ_ESCAPE') return '; write \\ twice, or use single quotes';
  return /scalar at node end/.test(message) ? '; a text with quotes in it is written in the other kind of quotes' : '';
}
