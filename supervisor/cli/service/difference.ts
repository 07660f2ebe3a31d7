// Line difference between two texts for people: `-` was there, `+` will be, a space stays. Pure.

const CONTEXT_LINES = 2;

/** Changed lines with two lines of context. Empty if the texts are equal. */
export function difference(before: string, after: string): string[] {
  const script = editScript(linesOf(before), linesOf(after));
  const near = (index: number): boolean =>
    script.slice(Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1).some((line) => !line.startsWith(' '));
  return script.flatMap((line, index) => {
    if (near(index)) return [line];
    return index > 0 && near(index - 1) ? ['…'] : [];
  });
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Longest common subsequence with a full table, which is fast enough for units of a hundred lines. */
function editScript(a: readonly string[], b: readonly string[]): string[] {
  const common = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = common[i] ?? [];
    for (let j = b.length - 1; j >= 0; j -= 1)
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const script: string[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      script.push(` ${a[i]}`);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      script.push(`-${a[i]}`);
      i += 1;
    } else {
      script.push(`+${b[j]}`);
      j += 1;
    }
  }
  return script;
}
