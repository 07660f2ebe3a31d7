// A value that must not be seen: printing, JSON and inspection give a mask; `reveal()` alone gives the text.
import { inspect } from 'node:util';

export const SECRET_MASK = '[secret]';

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The text itself. Its uses are few: find them by name. */
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
