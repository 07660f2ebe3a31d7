// The table of a run, a platform a line.
import type { Row } from './judge.ts';

const COLUMNS = [
  'said',
  'acknowledged',
  'handled',
  'answered',
  'doubled',
  'at one kill',
  'slow',
  'kills',
  'repeats',
  'extras',
] as const;
const NAME_WIDTH = 22;
const WIDTH = 13;

export function tableOf(rows: readonly Row[]): string {
  const line = (name: string, cells: readonly (string | number)[]): string =>
    name.padEnd(NAME_WIDTH) + cells.map((cell) => String(cell).padStart(WIDTH)).join('');
  return [
    line('platform', COLUMNS),
    ...rows.map(
      ({ name, said, acknowledged, handled, answered, doubled, mostAtOneKill, slow, kills, repeats, extras }) =>
        line(name, [
          said,
          acknowledged ?? 'none',
          handled,
          answered,
          doubled,
          mostAtOneKill,
          slow,
          kills,
          repeats,
          extras,
        ]),
    ),
  ].join('\n');
}
