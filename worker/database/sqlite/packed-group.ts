// Units on their way to the writer thread, and its answers on their way back. Copying objects between threads costs more than the rest:
// so a group is one flat list of primitives, texts of statements are sent once and named by a number afterwards, and the answer to a unit
// that was committed and returned nothing is `null`.
//
//   units: [statements, (shape, parameter…)…] for each unit, one after the other; the shape tells how many parameters follow. With a fence, which
//   is the first of them then, the number is negative.

import type { Statement, Unit, UnitAnswer } from '../unit.ts';
import type { GroupAnswer } from './group-commit.ts';

interface Shape {
  readonly sql: string;
  readonly parameters: number;
  readonly expect: number | undefined;
  readonly guard: string | undefined;
}

export interface PackedGroup {
  /** Shapes that the other side has not seen; their numbers go on from those before. */
  readonly shapes: readonly Shape[];
  readonly units: readonly unknown[];
}

export class GroupPacker {
  /** By text; of one text there are at most a few that differ in their guard (or in how many values they give: such a one is refused). */
  readonly #numbers = new Map<string, { readonly number: number; readonly shape: Shape }[]>();
  #size = 0;

  /** Packs, and sends. New texts are numbered once they are sent: of a group that `send` throws for the other side never hears. */
  pack(units: readonly Unit[], send: (group: PackedGroup) => void): void {
    const shapes: Shape[] = [];
    try {
      send({ shapes, units: this.#flatten(units, shapes) });
    } catch (error) {
      this.#takeBack(shapes);
      throw error;
    }
  }

  #flatten(units: readonly Unit[], shapes: Shape[]): readonly unknown[] {
    const flat: unknown[] = [];
    const put = (statement: Statement): void => {
      flat.push(this.#numberOf(statement, shapes));
      for (const parameter of statement.parameters) flat.push(parameter);
    };
    for (const { fence, statements } of units) {
      flat.push(fence === undefined ? statements.length : -1 - statements.length);
      if (fence !== undefined) put(fence);
      for (const statement of statements) put(statement);
    }
    return flat;
  }

  /** They are the last ones of their texts. */
  #takeBack(shapes: readonly Shape[]): void {
    for (const { sql } of shapes) this.#numbers.get(sql)?.pop();
    this.#size -= shapes.length;
  }

  #numberOf({ sql, parameters, expect, guard }: Statement, fresh: Shape[]): number {
    let known = this.#numbers.get(sql);
    if (known === undefined) {
      known = [];
      this.#numbers.set(sql, known);
    }
    for (const { number, shape } of known)
      if (shape.expect === expect && shape.guard === guard && shape.parameters === parameters.length) return number;
    const shape = { sql, parameters: parameters.length, expect, guard };
    const number = this.#size++;
    known.push({ number, shape });
    fresh.push(shape);
    return number;
  }
}

export class GroupUnpacker {
  readonly #shapes: Shape[] = [];

  unpack({ shapes, units: flat }: PackedGroup): readonly Unit[] {
    this.#shapes.push(...shapes);
    const units: Unit[] = [];
    for (let at = 0; at < flat.length; ) {
      const statements: Statement[] = [];
      const count = flat[at++] as number;
      for (let left = Math.abs(count); left > 0; left -= 1) {
        const { sql, parameters, expect, guard } = this.#shapes[flat[at++] as number] as Shape;
        statements.push({ sql, parameters: flat.slice(at, at + parameters), expect, guard });
        at += parameters;
      }
      units.push({ name: '', fence: count < 0 ? statements.shift() : undefined, statements });
    }
    return units;
  }
}

export interface PackedAnswer {
  readonly answers: readonly (UnitAnswer | null)[];
  readonly head: number;
  readonly isLogMended: boolean;
}

export const packAnswer = ({ answers, head, isLogMended = false }: GroupAnswer): PackedAnswer => ({
  answers: answers.map((answer) =>
    answer.kind === 'committed' && answer.rows.every((rows) => rows.length === 0) ? null : answer,
  ),
  head,
  isLogMended,
});

export function unpackAnswer({ answers, head, isLogMended }: PackedAnswer): GroupAnswer {
  const plain: UnitAnswer = { kind: 'committed', rows: [], head };
  return { answers: answers.map((answer) => answer ?? plain), head, isLogMended };
}
