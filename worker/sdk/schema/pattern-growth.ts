// How the work of a pattern grows with the text, as far as its source shows it: what is small for certain needs no limit. Pure.

export interface Growth {
  /** Most steps at one place of the text in each of its ways. */
  readonly weight: number;
  /** Of the length of the text. */
  readonly power: number;
}

interface Group {
  /** It holds a choice: a quantifier or an alternative. Repeated, it may take a text in a number of ways that doubles with each character. */
  isOpen: boolean;
}

const QUANTIFIER = /(?:[*+?]|\{(\d+)(,\d*)?\})\??/y;
const CLASS = /\[(?:[^\]\\]|\\[\s\S])*\]/y;
/** Of the kinds of groups those that only group and name. */
const GROUP = /\((?:\?:|\?<(?![=!])[^>]+>|(?!\?))/y;

/** Undefined where the source does not show it: choices that are repeated, references, looks ahead and behind, and what is not known here. */
export function growthOf({ source, flags }: RegExp): Growth | undefined {
  if (flags.includes('v')) return undefined;
  const groups: Group[] = [{ isOpen: false }];
  let weight = Math.max(1, source.length);
  let power = 0;
  let isAnchored = flags.includes('y') || (source.startsWith('^') && !flags.includes('m'));
  let closed: Group | undefined;
  for (let at = 0; at < source.length; ) {
    const inside = groups.at(-1);
    if (inside === undefined) return undefined;
    const quantifier = matchAt(QUANTIFIER, source, at);
    if (quantifier !== undefined) {
      if (closed?.isOpen === true) return undefined;
      const [text, least, more] = quantifier;
      if (text.startsWith('?')) weight *= 2;
      else if (least !== undefined && more === undefined) weight *= Math.max(1, Number(least));
      else power += 1;
      inside.isOpen = true;
      closed = undefined;
      at += text.length;
      continue;
    }
    closed = undefined;
    switch (source[at]) {
      case '\\':
        if (/[1-9k]/.test(source[at + 1] ?? '')) return undefined;
        at += 2;
        break;
      case '[': {
        const set = matchAt(CLASS, source, at);
        if (set === undefined) return undefined;
        at += set[0].length;
        break;
      }
      case '(': {
        const group = matchAt(GROUP, source, at);
        if (group === undefined) return undefined;
        groups.push({ isOpen: false });
        at += group[0].length;
        break;
      }
      case ')':
        closed = groups.pop();
        if (closed?.isOpen === true) (groups.at(-1) ?? closed).isOpen = true;
        at += 1;
        break;
      case '|':
        weight *= 2;
        inside.isOpen = true;
        if (groups.length === 1) isAnchored = false;
        at += 1;
        break;
      default:
        at += 1;
    }
  }
  return { weight, power: power + Number(!isAnchored) };
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(source) ?? undefined;
}
