// A secret of the configuration. Printing, JSON and inspection show a mask; only `reveal()` gives the text.
import { inspect } from 'node:util';

const MASK = '[secret]';

/** A text that prints as a mask. */
export interface Secret {
  /** The text, for a header or a signature. Never log it. */
  reveal(): string;
}

/** Wraps a text. */
export function secret(text: string): Secret {
  return new SecretText(text);
}

/** True for any secret, also one made by another copy of the SDK or by the configuration loader. */
export function isSecret(value: unknown): value is Secret {
  return typeof value === 'object' && value !== null && 'reveal' in value && typeof value.reveal === 'function';
}

class SecretText implements Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}
