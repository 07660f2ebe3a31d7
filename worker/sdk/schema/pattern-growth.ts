// Bounds how a pattern's work grows with the length of the text, as far as its source shows it. A provably small match needs no time limit. Pure.

export interface Growth {
  /** Factor of the bound: a match takes at most weight × (length + 1) ^ power steps. */
  readonly weight: number;
  /** Exponent of that bound. */
  readonly power: number;
}

interface Group {
  /** The group holds a choice: a quantifier or an alternative. If the group is repeated, the ways to match may double with each character. */
  isOpen: boolean;
}

const QUANTIFIER = /(?:[*+?]|\{(\d+)(,\d*)?\})\??/y;
const CLASS = /\[(?:[^\]\\]|\\[\s\S])*\]/y;
/** Groups without lookaround: capturing, named and non-capturing. */
const GROUP = /\((?:\?:|\?<(?![=!])[^>]+>|(?!\?))/y;

/** Undefined if the source proves no bound: repeated choices, back references, lookaround, and unknown syntax. */
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
