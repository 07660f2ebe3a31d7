// A secret of the configuration, as plugins and adapters hold it: printing, JSON and inspection give a mask, `reveal()` alone the text.
import { inspect } from 'node:util';

const MASK = '[secret]';

/** A text that shows itself to nobody but who asks for it by name. */
export interface Secret {
  /** The text itself: for a header or a signature, never for a log. */
  reveal(): string;
}

/** Wraps a text. */
export function secret(text: string): Secret {
  return new SecretText(text);
}

/** True for any object of this kind, also one made by another copy of the SDK or by the configuration loader. */
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
