// The journal of the Workroom. Each figure beside its baseline in turns of the same run, as medians:
//
//   append          what `append()` makes of a decision, through the writer. Baseline: the same events with their two hashes, inserted in one
//                   prepared statement, in groups of the same size, into the same table without anything else.
//   whole command   `Workroom.do`, 64 at a time: read, decide, append, event of the history. The same baseline.
//   with N events   append in a journal of N events (`--events`), and in one of 1,000.
//   proof           `svc workroom verify`: every event hashed again, texts against their digests, the catalog against the fold. Baseline, as the
//                   bare read: all columns of all events as objects by `iterate()`, in order. Beside it stands the cheapest proof there can be:
//                   that read, and SHA-256 of the event and of the chain.
//   ready           a host on that journal, from the start of its process, beside a host with 1,000 events. Needs the built host.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Sqlite } from '../../shared/sqlite.ts';
import { chainHash, digestOf } from '../../worker/workroom/journal/chain.ts';
import { verifyDatabase } from '../../worker/workroom/journal/verify-database.ts';
import { CLI } from '../support/process/built-svc.ts';
import { Journal, RawJournal } from './load/journal-kit.ts';
import type { Report } from './load/report.ts';
import { median, startHost } from './load/support.ts';

const FEW = 1_000;
const ROUNDS = 7;
/** Events of a round. */
const MEASURED = 2_100;
const PROOFS = 3;

interface Ready {
  readonly isInFiles?: boolean;
  /** The board and all that follows from the journal has to be made anew. */
  readonly isDatabaseGone?: boolean;
}
const READY: readonly (readonly [string, Ready, number])[] = [
  ['in the database', {}, 2_000],
  ['in files', { isInFiles: true }, 2_000],
  ['in files, the database gone', { isInFiles: true, isDatabaseGone: true }, 15_000],
];

export async function benchJournal(report: Report, events: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-journal-'));
  try {
    const large = await Journal.open(join(folder, 'large'));
    await large.fill(events);
    const small = await Journal.open(join(folder, 'small'));
    await small.fill(FEW);
    const raw = new RawJournal(join(folder, 'raw.sqlite'));
    const us: Record<'raw' | 'few' | 'many' | 'whole', number[]> = { raw: [], few: [], many: [], whole: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      us.few.push(await micros(() => small.append(MEASURED)));
      us.raw.push(await micros(() => raw.insert(MEASURED, small.groupSize)));
      us.many.push(await micros(() => large.append(MEASURED)));
      us.whole.push(await micros(() => small.command(MEASURED)));
    }
    raw.close();
    await small.close();
    await large.close();
    const total = events + ROUNDS * MEASURED;
    reportAppends(report, { total, groupSize: small.groupSize, us });
    proofs(report, large.file);
    const few = await readyMs(small.file);
    for (const [name, how, goalMs] of READY) {
      const ms = await readyMs(large.file, how);
      report.add({
        name: `ready with ${total.toLocaleString('en')} events, ${name}`,
        value: ms,
        unit: 'ms',
        baseline: { name: `with ${FEW + 2 * ROUNDS * MEASURED}`, value: few },
        ratio: ms / few,
        goal: { text: `<= ${goalMs / 1_000} s`, met: ms <= goalMs },
      });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Appends {
  readonly total: number;
  readonly groupSize: number;
  readonly us: Readonly<Record<'raw' | 'few' | 'many' | 'whole', readonly number[]>>;
}

function reportAppends(report: Report, { total, groupSize, us }: Appends): void {
  const [raw, few, many, whole] = [median(us.raw), median(us.few), median(us.many), median(us.whole)];
  const baseline = { name: `raw, groups of ${Math.round(groupSize)}`, value: 1e6 / raw };
  const goal = (ratio: number) => ({ text: '>= 0.4', met: ratio >= 0.4 });
  report.add({
    name: `append of an event, of ${total.toLocaleString('en')}`,
    value: many,
    unit: 'us',
    baseline: { name: `of ${FEW}`, value: few },
    ratio: many / few,
    goal: { text: '<= 1.2', met: many / few <= 1.2 },
  });
  report.add({
    name: 'appends a second',
    value: 1e6 / few,
    unit: '/s',
    baseline,
    ratio: raw / few,
    goal: goal(raw / few),
  });
  report.add({
    name: 'whole commands a second, 64 at a time',
    value: 1e6 / whole,
    unit: '/s',
    baseline,
    ratio: raw / whole,
    goal: goal(raw / whole),
  });
}

function proofs(report: Report, file: string): void {
  const database = new Sqlite(file, { readonly: true });
  try {
    const total = Number(database.prepare('SELECT count(*) FROM workroom_events').pluck().get());
    const rows = () =>
      database.prepare('SELECT * FROM workroom_events ORDER BY seq').iterate() as IterableIterator<
        Parameters<typeof digestOf>[0] & { readonly seq: number; readonly hash: string }
      >;
    const bare: number[] = [];
    const cheapest: number[] = [];
    const proof: number[] = [];
    for (let round = 0; round < PROOFS; round += 1) {
      bare.push(
        seconds(() => {
          for (const row of rows()) void row;
        }),
      );
      cheapest.push(
        seconds(() => {
          let before = '';
          for (const row of rows()) before = chainHash(before, row.seq, digestOf(row));
        }),
      );
      proof.push(
        seconds(() => {
          const { faults } = verifyDatabase(database);
          if (faults.length > 0) throw new Error(JSON.stringify(faults[0]));
        }),
      );
    }
    const ratio = median(bare) / median(proof);
    report.add({
      name: `proof of ${total.toLocaleString('en')} events`,
      value: total / median(proof),
      unit: '/s',
      baseline: { name: 'bare read', value: total / median(bare) },
      ratio,
      goal: { text: '>= 0.5', met: ratio >= 0.5 },
    });
    report.add({
      name: '  the same',
      value: total / median(proof),
      unit: '/s',
      baseline: { name: 'read and two hashes', value: total / median(cheapest) },
      ratio: median(cheapest) / median(proof),
    });
  } finally {
    database.close();
  }
}

/** A host starts over a copy of the database, with the note beside it. */
async function readyMs(file: string, { isInFiles = false, isDatabaseGone = false }: Ready = {}): Promise<number> {
  const config = ['host:', '  kind: workroom', ...(isInFiles ? ['workroom:', '  store: file'] : [])];
  const host = await startHost(['  work: {}'], config, {
    prepare: (folder) => {
      const state = join(folder, '.svc');
      cpSync(dirname(file), state, { recursive: true });
      chmodSync(state, 0o700);
      if (isInFiles)
        execFileSync(process.execPath, [CLI, 'workroom', 'convert', '--to', 'file', '--project', folder], {
          stdio: 'ignore',
        });
      if (isDatabaseGone)
        for (const name of readdirSync(state).filter((one) => one.startsWith('data.sqlite'))) rmSync(join(state, name));
    },
  });
  await host.stop();
  return host.readyMs;
}

async function micros(run: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await run();
  return ((performance.now() - startedAt) * 1_000) / MEASURED;
}

function seconds(run: () => void): number {
  const startedAt = performance.now();
  run();
  return (performance.now() - startedAt) / 1_000;
}
