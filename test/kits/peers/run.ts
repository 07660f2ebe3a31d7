// npm run peers [-- supervisor | platforms] [--json] [--kills N]. supervisor: svc beside PM2 and supervisord, the same host and the same programs
// under each, row by row in the same minutes. platforms: svc beside a chat library, the same bot under the same kills. The others are installed
// into a temporary folder and removed with all that they started; what cannot be had is said, with its reason. The exit code is 0 only where
// each comparison ran: with one of the others at least, and nothing of it failed or left out.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Keeper, SVC } from '../../bench/load/keeper.ts';
import { newFolder, type Peer } from './peer.ts';
import { comparePlatforms } from './platforms.ts';
import { installPm2 } from './pm2.ts';
import { type Cell, ROWS } from './supervisor.ts';
import { installSupervisord } from './supervisord.ts';

const NAME_WIDTH = 50;
const CELL_WIDTH = 26;
const FAILED = 'failed';
let interrupted = false;

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false }, kills: { type: 'string', default: '50' } },
  allowPositionals: true,
});
const COMPARISONS = ['supervisor', 'platforms'];
if (positionals.some((name) => !COMPARISONS.includes(name))) {
  console.error(`there is no comparison but of ${COMPARISONS.join(' and ')}, not of ${positionals.join(', ')}`);
  process.exit(2);
}

const folder = newFolder('installed');
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    // What runs is ended in order; no other row is begun.
    interrupted = true;
    say(`${signal}: ending after this measurement`);
  });
}
try {
  const asks = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
  const ran: boolean[] = [];
  if (asks('supervisor')) ran.push(await compare());
  if (asks('platforms') && !interrupted)
    ran.push(await comparePlatforms({ folder, kills: Number(values.kills), json: values.json, say }));
  if (interrupted || ran.includes(false)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** False where there was nothing to compare with, or a cell failed. */
async function compare(): Promise<boolean> {
  const installers = { pm2: installPm2, supervisord: installSupervisord } as const;
  const peers: Peer[] = [];
  for (const [name, install] of Object.entries(installers)) {
    const into = join(folder, name);
    mkdirSync(into);
    try {
      peers.push(await install(into));
    } catch (error) {
      say(`skipped: ${name} (${messageOf(error)})`);
    }
  }
  // All is installed: a file of certificates costs each start of Node 20 some 80 ms, and nothing from here on speaks TLS.
  delete process.env['NODE_EXTRA_CA_CERTS'];
  const keepers: readonly Keeper[] = [SVC, ...peers.map(({ keeper }) => keeper)];
  say(`node ${process.version}, ${peers.map(({ keeper, version }) => `${keeper.name} ${version}`).join(', ')}`);
  say(''.padEnd(NAME_WIDTH) + keepers.map(({ name }) => name.padStart(CELL_WIDTH)).join(''));
  const table: { readonly name: string; readonly cells: Readonly<Record<string, Cell>> }[] = [];
  for (const { names, measure } of ROWS) {
    const columns: { readonly keeper: Keeper; readonly cells: readonly Cell[] }[] = [];
    if (interrupted) break;
    for (const keeper of keepers) columns.push({ keeper, cells: await cellsOf(() => measure(keeper), names.length) });
    for (const [index, name] of names.entries()) {
      const cells = columns.map((column) => [column.keeper.name, column.cells[index] ?? { text: '' }] as const);
      table.push({ name, cells: Object.fromEntries(cells) });
      say(name.padEnd(NAME_WIDTH) + cells.map(([, { text }]) => text.padStart(CELL_WIDTH)).join(''));
    }
  }
  if (values.json) console.log(JSON.stringify({ node: process.version, table }, null, 2));
  return peers.length > 0 && table.every(({ cells }) => Object.values(cells).every(({ text }) => text !== FAILED));
}

/** A keeper that fails in a row does not end the comparison. */
async function cellsOf(measure: () => Promise<readonly Cell[]>, count: number): Promise<readonly Cell[]> {
  try {
    return await measure();
  } catch (error) {
    console.error(messageOf(error));
    return Array.from({ length: count }, () => ({ text: FAILED }));
  }
}

/** With --json the document alone is on stdout. */
function say(line: string): void {
  if (values.json) console.error(line);
  else console.log(line);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
