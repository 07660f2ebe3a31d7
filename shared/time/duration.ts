// Durations as people write them ("10m", "1h30m", "2d"), in code milliseconds.

const UNIT_MS = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 } as const;
const LONGEST_MS = 100 * 366 * UNIT_MS.d;

/** Milliseconds, or undefined if the text is not a duration or is longer than a hundred years. */
export function readDuration(text: string): number | undefined {
  if (!/^(?:\d{1,12}[smhd])+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhd])/g))
    sum += Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  return sum <= LONGEST_MS ? sum : undefined;
}

/** The shortest text that `readDuration` reads back, rounded down to a second. 5_400_000 is "1h30m"; less than a second is "0s". */
export function showDuration(ms: number): string {
  let rest = Math.max(0, ms);
  let text = '';
  for (const [unit, size] of Object.entries(UNIT_MS)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  return text === '' ? '0s' : text;
}
