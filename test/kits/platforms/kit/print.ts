// The table of a run, a platform a line.
import type { Row } from './judge.ts';

const COLUMNS = [
  'said',
  'acknowledged',
  'handled',
  'answered',
  'shown again',
  'by kills',
  'at one kill',
  'kills',
  'repeats',
] as const;
const NAME_WIDTH = 30;
const WIDTH = 13;

export function tableOf(rows: readonly Row[]): string {
  const line = (name: string, cells: readonly (string | number)[], rest: string): string =>
    `${name.padEnd(NAME_WIDTH)}${cells.map((cell) => String(cell).padStart(WIDTH)).join('')}  ${rest}`;
  return [
    line('platform', COLUMNS, 'extras'),
    ...rows.map(({ name, said, acknowledged = 'none', handled, answered, again, byKills, mostAtOneKill, ...row }) => {
      const cells = [said, acknowledged, handled, answered, again, byKills, mostAtOneKill, row.kills, row.repeats];
      const extras = Object.entries(row.extras).map(([extra, count]) => `${count} ${extra}`);
      return line(name, cells, extras.join(', '));
    }),
  ].join('\n');
}
