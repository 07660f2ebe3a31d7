// Parses the Markdown of bots into a tree of plain data. Pure; nothing is parsed as HTML.
//
//   CONSOLE-MARKDOWN-1  **bold** _italic_ *italic* ~~strike~~ `code` [text](url), fences and > quotes. A backslash makes the next sign literal.
//                       Everything else is text.
//   CONSOLE-MARKDOWN-2  A link may lead to http, https or mailto. Any other address stays text beside its label.
//   CONSOLE-MARKDOWN-3  Parsing time is linear in the length of the text, whatever it contains.
//   CONSOLE-MARKDOWN-4  Only formatting signs are dropped. The word after a fence is its language, and an empty fence is text.

export type Mark = 'strong' | 'em' | 's';
export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'mark'; readonly mark: Mark; readonly children: readonly Inline[] }
  | { readonly kind: 'link'; readonly url: string; readonly children: readonly Inline[] };
export type Block =
  | { readonly kind: 'text'; readonly children: readonly Inline[] }
  | { readonly kind: 'quote'; readonly children: readonly Inline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string };

const MAX_LENGTH = 50_000;
const MARKS: readonly (readonly [sign: string, mark: Mark])[] = [
  ['**', 'strong'],
  ['~~', 's'],
  ['_', 'em'],
  ['*', 'em'],
];
const MAX_DEPTH = 8;
const MAX_TICKS = 64;
const MAX_LINK = 2_000;

export function parseMarkdown(source: string): readonly Block[] {
  if (source.length > MAX_LENGTH) return [{ kind: 'text', children: [{ kind: 'text', text: source }] }];
  const blocks: Block[] = [];
  const lines = source.split('\n');
  for (let at = 0; at < lines.length; ) {
    const fence = FENCE.exec(lines[at] ?? '');
    const end = fence === null ? endOfRun(lines, at) : endOfFence(lines, at);
    blocks.push(fence === null ? runOf(lines.slice(at, end)) : fenceOf(lines.slice(at, end)));
    at = end;
  }
  return blocks;
}

/** Three or more backquotes and a language. A further backquote in the line makes it text. */
const FENCE = /^(`{3,})([^`]*)$/;

function fenceOf(lines: readonly string[]): Block {
  const [, , language = ''] = FENCE.exec(lines[0] ?? '') ?? [];
  const isEnded = lines.length > 1 && isFenceEnd(lines.at(-1) ?? '', lines[0] ?? '');
  const text = lines.slice(1, isEnded ? -1 : undefined).join('\n');
  return text.trim() === ''
    ? { kind: 'text', children: parseInline(lines.join('\n')) }
    : { kind: 'code', language: language.trim(), text };
}

function runOf(lines: readonly string[]): Block {
  if (lines[0]?.startsWith('>') !== true) return { kind: 'text', children: parseInline(lines.join('\n')) };
  return { kind: 'quote', children: parseInline(lines.map((quoted) => quoted.replace(/^> ?/, '')).join('\n')) };
}

function endOfFence(lines: readonly string[], start: number): number {
  for (let at = start + 1; at < lines.length; at++) if (isFenceEnd(lines[at] ?? '', lines[start] ?? '')) return at + 1;
  return lines.length;
}

/** At least as many backquotes as the fence began with. */
function isFenceEnd(line: string, first: string): boolean {
  return /^`{3,}\s*$/.test(line) && line.trimEnd().length >= (/^`+/.exec(first)?.[0].length ?? 3);
}

function endOfRun(lines: readonly string[], start: number): number {
  const isQuote = lines[start]?.startsWith('>') === true;
  let at = start + 1;
  while (at < lines.length && (lines[at]?.startsWith('>') === true) === isQuote && !FENCE.test(lines[at] ?? '')) at++;
  return at;
}

export function parseInline(source: string, depth = 0): readonly Inline[] {
  const out: Inline[] = [];
  const missing = new Set<string>();
  let text = '';
  const flush = (): void => {
    if (text !== '') out.push({ kind: 'text', text });
    text = '';
  };
  for (let at = 0; at < source.length; ) {
    if (source[at] === '\\' && /[!-/:-@[-`{-~]/.test(source[at + 1] ?? '')) {
      text += source[at + 1] ?? '';
      at += 2;
      continue;
    }
    const found = depth < MAX_DEPTH ? spanAt(source, at, missing) : undefined;
    if (found === undefined) {
      text += source[at] ?? '';
      at += 1;
      continue;
    }
    flush();
    out.push(nodeOf(found, depth));
    at = found.end;
  }
  flush();
  return out;
}

type Span =
  | { readonly kind: 'code'; readonly inner: string; readonly end: number }
  | { readonly kind: 'mark'; readonly mark: Mark; readonly inner: string; readonly end: number }
  | { readonly kind: 'link'; readonly inner: string; readonly address: string; readonly end: number };

function spanAt(source: string, at: number, missing: Set<string>): Span | undefined {
  if (source[at] === '`') return codeAt(source, at, missing);
  if (source[at] === '[') return linkAt(source, at);
  const [sign, mark] = MARKS.find(([known]) => source.startsWith(known, at)) ?? [];
  if (sign === undefined || mark === undefined) return undefined;
  if (sign === '_' && /\w/.test(source[at - 1] ?? '')) return undefined;
  // A sign without a later counterpart is not searched again, which keeps the time linear.
  const end = missing.has(sign) ? undefined : closing(source, sign, at + sign.length);
  if (end === undefined) missing.add(sign);
  const inner = end === undefined ? '' : source.slice(at + sign.length, end);
  return end === undefined || inner.trim() === '' || /^\s/.test(inner)
    ? undefined
    : { kind: 'mark', mark, inner, end: end + sign.length };
}

/** Code ends with as many backquotes as it began with, so it may contain fewer. A blank at both ends belongs to the backquotes. */
function codeAt(source: string, at: number, missing: Set<string>): Span | undefined {
  const ticks = /^`+/.exec(source.slice(at, at + MAX_TICKS))?.[0] ?? '`';
  if (missing.has(ticks)) return undefined;
  const start = at + ticks.length;
  let end = source.indexOf(ticks, start);
  while (end !== -1 && source[end + ticks.length] === '`') {
    while (source[end] === '`') end++;
    end = source.indexOf(ticks, end);
  }
  if (end === -1) missing.add(ticks);
  if (end === -1 || end === start) return undefined;
  const inner = source.slice(start, end);
  return {
    kind: 'code',
    inner: /^ .* $/s.test(inner) && inner.includes('`') ? inner.slice(1, -1) : inner,
    end: end + ticks.length,
  };
}

function linkAt(source: string, at: number): Span | undefined {
  const near = source.slice(at, at + MAX_LINK);
  const middle = closing(near, '](', 1);
  const end = middle === undefined ? undefined : closing(near, ')', middle + 2);
  if (middle === undefined || end === undefined || middle === 1) return undefined;
  const address = near.slice(middle + 2, end).replace(/\\([!-/:-@[-`{-~])/g, '$1');
  return /\s/.test(address) ? undefined : { kind: 'link', inner: near.slice(1, middle), address, end: at + end + 1 };
}

/** Next position of the sign that no backslash makes literal. */
function closing(source: string, sign: string, from: number): number | undefined {
  let at = source.indexOf(sign, from);
  while (at !== -1 && isLiteral(source, at)) at = source.indexOf(sign, at + 1);
  return at === -1 ? undefined : at;
}

function isLiteral(source: string, at: number): boolean {
  let backslashes = 0;
  while (backslashes < MAX_TICKS && source[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

function nodeOf(span: Span, depth: number): Inline {
  if (span.kind === 'code') return { kind: 'code', text: span.inner };
  const children = parseInline(span.inner, depth + 1);
  if (span.kind === 'mark') return { kind: 'mark', mark: span.mark, children };
  const url = safeUrl(span.address);
  if (url !== undefined) return { kind: 'link', url, children };
  return { kind: 'text', text: `${span.inner} (${span.address})` };
}

/** The address if its scheme is allowed for links. */
export function safeUrl(address: string): string | undefined {
  try {
    const { protocol, href } = new URL(address);
    return protocol === 'http:' || protocol === 'https:' || protocol === 'mailto:' ? href : undefined;
  } catch {
    return undefined;
  }
}
