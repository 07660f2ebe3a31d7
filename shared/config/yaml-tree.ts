// Parses YAML into plain values and the position of every path. Strict: one document, and none of YAML's surprising features.
//
//   YAML-1  Rejected, with a position: parser errors and warnings, tags, directives, a second document, duplicate keys, merge keys.
//           Also keys that are not plain words, `__proto__` and the like, nesting over 64, more than 100 aliases, control characters.
//   YAML-2  Any text up to 1 MiB is answered in under a second. Tokens are counted before a tree is built, and aliases count their copies.
//   YAML-3  An empty value (`key:`) is null. The reader decides its meaning.
import { Composer, type CST, type Document, isAlias, isMap, isScalar, isSeq, Lexer, type Node, Parser } from 'yaml';
import { type Finding, type Place, pointerTo } from './fault.ts';
import { ANCHOR, firstProblem, hiddenText, inQuotes, TAGS } from './yaml-words.ts';

const LARGEST_DEPTH = 64;
const MOST_ALIASES = 100;
const MOST_TOKENS = 100_000;
const MOST_NODES = 100_000;
const MOST_WARNINGS = 20;
/** How far behind an empty value is looked. */
const LONGEST_REST = 20;
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

export interface YamlTree {
  readonly value: unknown;
  readonly findings: readonly Finding[];
  /** Values that are empty, although a text seems to stand there. */
  readonly warnings: readonly Finding[];
  /** Line and column of every path. */
  readonly places: ReadonlyMap<string, Place>;
}

/** Parses the text. If there are findings, the value holds the readable part. */
export function readYaml(text: string): YamlTree {
  const placeAt = placeFinder(text);
  const findings: Finding[] = [];
  const report = (offset: number, message: string, path = ''): void => {
    if (findings.length < 1_000) findings.push({ path, message, place: placeAt(offset) });
  };
  const control = text.search(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u0084\u0086-\u009F\uFFFE\uFFFF]/);
  if (control >= 0) report(control, 'control characters are not taken');
  const tokens = control >= 0 ? undefined : tokenize(text, report);
  const document = tokens === undefined ? undefined : composeOne(tokens, { report, text });
  if (document === undefined) return { value: undefined, findings, warnings: [], places: new Map() };
  const places = new Map<string, Place>([['', { line: 1, column: 1 }]]);
  const warnings: Finding[] = [];
  // Behind a fault of the text the values are guesses.
  const isBroken = findings.length > 0;
  const walk = new Walk(document, {
    text,
    report: isBroken ? () => {} : report,
    warn: (path, message) => void (warnings.length < MOST_WARNINGS && warnings.push({ path, message })),
    place: (path, offset) => places.set(path, placeAt(offset)),
  });
  return { value: walk.value(document.contents, '', 0), findings, warnings, places };
}

type Report = (offset: number, message: string, path?: string) => void;

/** Syntax tokens. Undefined if there are too many or they nest too deep. Each lexeme is counted before the parser sees it. */
function tokenize(text: string, report: Report): CST.Token[] | undefined {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  const state = { count: 0, depth: 0, offset: 0, scalarNext: false };
  for (const lexeme of new Lexer().lex(text)) {
    state.count += 1;
    if (state.scalarNext) state.scalarNext = false;
    else if (lexeme === '\u001F') state.scalarNext = true;
    else if (lexeme === '[' || lexeme === '{') state.depth += 1;
    else if (lexeme === ']' || lexeme === '}') state.depth -= 1;
    const excess = excessOf(state);
    if (excess !== undefined) {
      report(state.offset, excess);
      return undefined;
    }
    tokens.push(...parser.next(lexeme));
    if (lexeme !== '\u0002' && lexeme !== '\u0018' && lexeme !== '\u001F') state.offset += lexeme.length;
  }
  tokens.push(...parser.end());
  return isShallow(tokens, report) ? tokens : undefined;
}

const excessOf = ({ count, depth }: { readonly count: number; readonly depth: number }): string | undefined => {
  if (count > MOST_TOKENS) return `holds more than ${MOST_TOKENS} tokens`;
  return depth > LARGEST_DEPTH ? `nests deeper than ${LARGEST_DEPTH} levels` : undefined;
};

/** Checks the nesting of block structures. This runs without recursion, because the composer recurses and could overflow. */
function isShallow(tokens: readonly CST.Token[], report: Report): boolean {
  const open: { token: CST.Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > LARGEST_DEPTH) {
      report(token.offset, `nests deeper than ${LARGEST_DEPTH} levels`);
      return false;
    }
    if (token.type === 'document' && token.value !== undefined) open.push({ token: token.value, depth });
    if (!('items' in token)) continue;
    for (const item of token.items) {
      if (item.key) open.push({ token: item.key, depth: depth + 1 });
      if (item.value) open.push({ token: item.value, depth: depth + 1 });
    }
  }
  return true;
}

interface Source {
  readonly report: Report;
  readonly text: string;
}

function composeOne(tokens: readonly CST.Token[], { report, text }: Source): Document | undefined {
  const directive = tokens.find((token) => token.type === 'directive');
  if (directive !== undefined) {
    report(directive.offset, 'YAML directives are not taken');
    return undefined;
  }
  const composer = new Composer({ strict: true, uniqueKeys: false, version: '1.2', merge: false });
  const documents = [...composer.compose(tokens, true)];
  const [first, second] = documents;
  if (second !== undefined) report(second.range?.[0] ?? 0, 'holds a second document; only one is taken');
  const problem = firstProblem([...(first?.errors ?? []), ...(first?.warnings ?? [])], text);
  if (problem !== undefined) report(problem.offset, problem.message);
  return first;
}

interface WalkPorts {
  readonly text: string;
  readonly report: Report;
  warn(path: string, message: string): void;
  place(path: string, offset: number): void;
}

/** One pass over the nodes: collects values and positions, and rejects unsupported features. */
class Walk {
  readonly #document: Document;
  readonly #ports: WalkPorts;
  #aliases = 0;
  #nodes = 0;

  constructor(document: Document, ports: WalkPorts) {
    this.#document = document;
    this.#ports = ports;
  }

  value(node: Node | null | undefined, path: string, depth: number): unknown {
    if (node === null || node === undefined) return null;
    const at = node.range?.[0] ?? 0;
    this.#nodes += 1;
    if (this.#nodes > MOST_NODES)
      return this.#refuse(at, `holds more than ${MOST_NODES} values`, this.#nodes === MOST_NODES + 1);
    if (depth > LARGEST_DEPTH) return this.#refuse(at, `nests deeper than ${LARGEST_DEPTH} levels`);
    if (isAlias(node)) return this.#alias(node, path, depth);
    if (isTagged(node)) return this.#refuse(at, TAGS);
    if (isMap(node)) return this.#map(node.items, path, depth);
    if (isSeq(node)) return node.items.map((item, index) => this.#item(item, pointerTo(path, index), depth));
    return isScalar(node) ? this.#scalar(node.value, at, path) : null;
  }

  #alias(node: Node & { resolve(document: Document): Node | undefined }, path: string, depth: number): unknown {
    const at = node.range?.[0] ?? 0;
    this.#aliases += 1;
    if (this.#aliases > MOST_ALIASES)
      return this.#refuse(at, `expands more than ${MOST_ALIASES} aliases`, this.#aliases === MOST_ALIASES + 1);
    const target = node.resolve(this.#document);
    return target === undefined
      ? this.#refuse(at, `refers to an anchor that does not exist${inQuotes('*')}`)
      : this.value(target, path, depth + 1);
  }

  #item(item: unknown, path: string, depth: number): unknown {
    const node = item as Node | null;
    const at = node?.range?.[0] ?? 0;
    this.#ports.place(path, at);
    const hidden = this.#hidden(node, at);
    if (hidden === undefined) return this.value(node, path, depth + 1);
    this.#ports.report(at, hidden, path);
    return null;
  }

  #map(items: readonly { key: unknown; value: unknown }[], path: string, depth: number): unknown {
    const out: Record<string, unknown> = {};
    for (const pair of items) {
      const key = pair.key as Node | null;
      const at = key?.range?.[0] ?? 0;
      const name = nameOf(key);
      if (name === undefined) this.#refuse(at, 'keys must be plain words');
      else if (name === '<<')
        this.#refuse(at, 'merge keys (<<) are not taken: write the keys out, or take a whole group by its alias');
      else if (FORBIDDEN_KEYS.has(name)) this.#refuse(at, `the key ${name} is not taken`);
      else if (Object.hasOwn(out, name)) this.#ports.report(at, 'is given a second time', pointerTo(path, name));
      else {
        const inner = pointerTo(path, name);
        this.#ports.place(inner, at);
        const node = pair.value as Node | null;
        const hidden = this.#hidden(node, node?.range?.[0] ?? key?.range?.[1] ?? at);
        if (hidden !== undefined) this.#ports.warn(inner, hidden);
        out[name] = this.value(node, inner, depth + 1);
      }
    }
    return out;
  }

  /** What hides the text of an empty value. An item of a list is never left empty on purpose; a key may be, with a comment behind it. */
  #hidden(node: Node | null, at: number): string | undefined {
    if (isAlias(node) || (node !== null && (!isScalar(node) || node.value !== null))) return undefined;
    if (node?.anchor !== undefined) return ANCHOR;
    return hiddenText(
      this.#ports.text
        .slice(at, at + LONGEST_REST)
        .replace(/^:/, '')
        .split('\n', 1)[0] ?? '',
    );
  }

  #scalar(value: unknown, at: number, path: string): unknown {
    if (typeof value !== 'number') return value;
    if (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))) return value;
    const isId = Number.isFinite(value);
    const message = isId
      ? 'is a number that cannot be held exactly: an id is written in quotes'
      : 'is a number past all bounds';
    this.#ports.report(at, message, path);
    return null;
  }

  #refuse(offset: number, message: string, tell = true): null {
    if (tell) this.#ports.report(offset, message);
    return null;
  }
}

/** The text of a key that is a plain word, number or boolean. */
function nameOf(key: Node | null): string | undefined {
  if (!isScalar(key) || isTagged(key)) return undefined;
  const { value } = key;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

/** True for a tag written in the text. The core schema sets none. */
const isTagged = (node: Node): boolean => node.tag !== undefined;

/** Line and column of an offset, found by bisection. */
function placeFinder(text: string): (offset: number) => Place {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
