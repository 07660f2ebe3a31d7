// Units on their way to the writer thread: texts of statements are sent once and named by a number afterwards, because copying
// them again for each unit costs more than the rest.
import type { Statement, Unit } from './unit.ts';

type PackedStatement = readonly [
  text: number,
  parameters: readonly unknown[],
  expect: number | undefined,
  guard: string | undefined,
];
type PackedUnit = readonly [name: string, statements: readonly PackedStatement[]];
export interface PackedGroup {
  /** Texts that the other side has not seen; their numbers go on from those before. */
  readonly texts: readonly string[];
  readonly units: readonly PackedUnit[];
}

export class GroupPacker {
  readonly #numbers = new Map<string, number>();

  pack(units: readonly Unit[]): PackedGroup {
    const texts: string[] = [];
    const numberOf = (text: string): number => {
      const known = this.#numbers.get(text);
      if (known !== undefined) return known;
      const number = this.#numbers.size;
      this.#numbers.set(text, number);
      texts.push(text);
      return number;
    };
    const packed = units.map(
      ({ name, statements }): PackedUnit => [
        name,
        statements.map(
          ({ sql, parameters, expect, guard }): PackedStatement => [numberOf(sql), parameters, expect, guard],
        ),
      ],
    );
    return { texts, units: packed };
  }
}

export class GroupUnpacker {
  readonly #texts: string[] = [];

  unpack({ texts, units }: PackedGroup): readonly Unit[] {
    this.#texts.push(...texts);
    return units.map(([name, statements]) => ({
      name,
      statements: statements.map(
        ([text, parameters, expect, guard]): Statement => ({
          sql: this.#texts[text] ?? '',
          parameters,
          ...(expect === undefined ? {} : { expect }),
          ...(guard === undefined ? {} : { guard }),
        }),
      ),
    }));
  }
}
