// Finds the valid word nearest to a wrong one, for "did you mean". Long words are not compared, so the cost is bounded.
const LONGEST = 64;
const MOST_KNOWN = 10;

/**
 * The candidate with the fewest edits (swapped neighbours count as one), fewer than a third of the word's length, one at least.
 * With a different first letter only one edit is allowed: few people mistype that letter, and `agents` does not mean `events`.
 */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  if (word.length > LONGEST) return undefined;
  const wanted = fold(word);
  let best: { candidate: string; edits: number } | undefined;
  for (const candidate of candidates) {
    if (candidate.length > LONGEST) continue;
    const folded = fold(candidate);
    const edits = editsBetween(wanted, folded);
    const most =
      folded[0] === wanted[0] ? Math.max(1, Math.floor((Math.max(word.length, candidate.length) - 1) / 3)) : 1;
    if (edits <= most && (best === undefined || edits < best.edits)) best = { candidate, edits };
  }
  return best?.candidate;
}

/** Suggests the nearest known word, else lists the first known ones. */
export function nearestOrKnown(word: string, known: readonly string[]): string | undefined {
  const near = nearest(word, known);
  if (near !== undefined) return `did you mean ${near}?`;
  const rest = known.length - MOST_KNOWN;
  if (known.length === 0) return undefined;
  return `known are ${known.slice(0, MOST_KNOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

const fold = (word: string): string => word.toLowerCase().replaceAll(/[-_]/g, '');

function editsBetween(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      next.push(cost);
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
