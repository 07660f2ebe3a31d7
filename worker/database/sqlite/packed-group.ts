// Packs units for the writer thread, and answers for the main thread. Copying objects between threads costs more than all else. So a group is one
// flat list of primitives. The text of a statement is sent once, later only its number. A committed unit without rows is answered by `null`.
//
//   units: [statements, (shape, parameter…)…] for each unit in turn. A shape tells how many parameters follow. A unit with a fence has
//   the count -1 - statements, and its fence comes first.

import type { Statement, Unit, UnitAnswer } from '../unit.ts';
import type { GroupAnswer } from './group-commit.ts';

interface Shape {
  readonly sql: string;
  readonly parameters: number;
  readonly expect: number | undefined;
  readonly guard: string | undefined;
}

export interface PackedGroup {
  /** Shapes that the other side does not know yet; they are numbered on from the earlier ones. */
  readonly shapes: readonly Shape[];
  readonly units: readonly unknown[];
}

export class GroupPacker {
  /** By text. A text has few shapes: they differ in guard, expected rows or number of parameters. */
  readonly #numbers = new Map<string, { readonly number: number; readonly shape: Shape }[]>();
  #size = 0;

  /** Packs and sends. If `send` throws, the numbers of new texts are released: the other side never saw them. */
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

  /** New shapes are the last ones of their texts. */
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
  readonly isPinBroken: boolean;
}

export const packAnswer = ({ answers, head, isLogMended = false, isPinBroken = false }: GroupAnswer): PackedAnswer => ({
  answers: answers.map((answer) =>
    answer.kind === 'committed' && answer.rows.every((rows) => rows.length === 0) ? null : answer,
  ),
  head,
  isLogMended,
  isPinBroken,
});

export function unpackAnswer({ answers, head, isLogMended, isPinBroken }: PackedAnswer): GroupAnswer {
  const plain: UnitAnswer = { kind: 'committed', rows: [], head };
  return { answers: answers.map((answer) => answer ?? plain), head, isLogMended, isPinBroken };
}
