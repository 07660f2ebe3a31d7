// Finds units with a value that no column takes, such as a Promise or a function of a plugin. Such a value cannot even be sent to the writer thread.
// Each such unit is refused alone. Used only after a failed send: SQLite itself refuses the rest.
import type { Unit, UnitAnswer } from './unit.ts';

export type Refusals = ReadonlyMap<Unit, UnitAnswer>;

/** The units with such a value, each with its refusal. */
export function unstorable(units: readonly Unit[]): Refusals {
  const refused = new Map<Unit, UnitAnswer>();
  for (const unit of units) {
    const answer = refusalOf(unit);
    if (answer !== undefined) refused.set(unit, answer);
  }
  return refused;
}

/** The answers of all units, in order. `answers` are those of the units that were sent. */
export function withRefusals(
  units: readonly Unit[],
  answers: readonly UnitAnswer[],
  refused: Refusals,
): readonly UnitAnswer[] {
  const sent = answers.values();
  return units.map((unit) => refused.get(unit) ?? (sent.next().value as UnitAnswer));
}

function refusalOf({ name, statements }: Unit): UnitAnswer | undefined {
  for (const [index, { parameters, guard }] of statements.entries()) {
    const at = parameters.findIndex((parameter) => !isStorable(parameter));
    if (at === -1) continue;
    const detail = `${name}: value ${at + 1} of statement ${index + 1} is a ${kindOf(parameters[at])}, which cannot be stored`;
    return { kind: 'refused', reason: 'constraint', guard, detail };
  }
  return undefined;
}

const isStorable = (value: unknown): boolean =>
  value === null || value instanceof Uint8Array || (typeof value !== 'object' && !hasNoCopy(value));

const hasNoCopy = (value: unknown): boolean => typeof value === 'function' || typeof value === 'symbol';

/** Names the type only: the value may be personal text. */
const kindOf = (value: unknown): string =>
  typeof value === 'object' ? (value?.constructor?.name ?? 'object') : typeof value;
