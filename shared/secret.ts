// A value that must not be seen. Printing, JSON and inspection show a mask; only `reveal()` returns the text.
import { inspect } from 'node:util';

export const SECRET_MASK = '[secret]';

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself. Its few uses can be found by this name. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return SECRET_MASK;
  }

  toJSON(): string {
    return SECRET_MASK;
  }

  [inspect.custom](): string {
    return SECRET_MASK;
  }
}
