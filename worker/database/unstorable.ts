// Units with a value that no column takes: a Promise or a function of a plugin, which cannot even be sent to the writer thread. Each is
// refused for itself. Looked for only where sending has failed: whatever can be sent, SQLite refuses by itself.
import type { Unit, UnitAnswer } from './unit.ts';

export type Refusals = ReadonlyMap<Unit, UnitAnswer>;

/** Which of these units hold such a value, each with its answer. */
export function unstorable(units: readonly Unit[]): Refusals {
  const refused = new Map<Unit, UnitAnswer>();
  for (const unit of units) {
    const answer = refusalOf(unit);
    if (answer !== undefined) refused.set(unit, answer);
  }
  return refused;
}

/** The answers of all units, in order; `answers` are those of the units that were sent. */
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

/** Never what it holds: that may be what a person wrote. */
const kindOf = (value: unknown): string =>
  typeof value === 'object' ? (value?.constructor?.name ?? 'object') : typeof value;
