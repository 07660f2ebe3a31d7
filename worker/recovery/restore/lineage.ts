// Which earlier states a state came from. Each restore begins a new timeline (an epoch), and notes in the database from where.
//
//   LINEAGE-1  Rows of an earlier state of the line are in the later one, or retention or an operator has removed them there.
//   LINEAGE-2  Work that was open in a state whose outcomes came along is in the later one too, or has ended and was removed.
//   LINEAGE-3  Of a timeline the highest event position counts: what came before it in that timeline is an earlier state too.
import { goingOn, highest, LINEAGE, type Lineage, lineageOf, type Positions } from '../../database/lineage.ts';
import { writeMeta } from '../../database/project-state.ts';
import type { Statement } from '../../database/unit.ts';
import type { State } from './state-reader.ts';

/**
 * How the replaced state came from the one that is restored:
 * - `line`: its rows were copied from there, or it is the same timeline later
 * - `carried`: the outcomes of that state came along into it
 * - `none`: it may never have had what is open there
 */
export type Origin = 'line' | 'carried' | 'none';

export function originOf(replaced: State, kept: State): Origin {
  const [now, then] = [placeOf(replaced), placeOf(kept)];
  if (now.epoch === then.epoch) return now.head >= then.head ? 'line' : 'none';
  const { line, carried } = readLineage(replaced);
  if ((line[then.epoch] ?? -1) >= then.head) return 'line';
  return (carried[then.epoch] ?? -1) >= then.head ? 'carried' : 'none';
}

/** The row of a state that begins a new timeline. `replaced`: the state whose outcomes came along; undefined if none did. */
export function writeLineage(kept: State, replaced: State | undefined): Statement {
  const own = readLineage(kept);
  const other =
    replaced === undefined ? [] : [readLineage(replaced).line, readLineage(replaced).carried, here(replaced)];
  const { line, carried } = goingOn(own, here(kept));
  return writeMeta(LINEAGE, JSON.stringify({ line, carried: highest(carried, ...other) }));
}

function readLineage(state: State): Lineage {
  const stored = state.all('meta', 'key = ?', LINEAGE)[0]?.['value'];
  return lineageOf(stored === undefined ? undefined : String(stored));
}

/** The timeline in which a state has given this number to an event; undefined: it has not given it yet. */
export function timelinesOf(state: State): (event: number) => string | undefined {
  // The line is a chain: each of its timelines ended where the next one began.
  const chain = Object.entries(highest(readLineage(state).line, here(state)));
  chain.sort(([, one], [, other]) => one - other);
  return (event) => chain.find(([, head]) => event <= head)?.[0];
}

const placeOf = (state: State) => ({
  epoch: String(state.all('meta', "key = 'epoch'")[0]?.['value'] ?? ''),
  head: Number(state.all('counters', "name = 'event'")[0]?.['value'] ?? 0),
});

function here(state: State): Positions {
  const { epoch, head } = placeOf(state);
  return { [epoch]: head };
}
