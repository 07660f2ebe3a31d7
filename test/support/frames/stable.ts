// What differs from run to run, by names that do not: so that two recordings can be compared, and a recorded one be played again.
//
//   S1  The same value has the same name wherever it stands, numbered in the order in which values came.
//   S2  Times have one name: two of them may or may not be the same second.
const TIME_MS = 86_400_000;
const PATTERNS = [
  ['attachment', /(?<=attach:\/\/)\w{16}\b/],
  ['uuid', /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/],
  ['time', /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/],
  ['number', /\b\d{9,}(?:\.\d+)?\b/],
  ['hex', /\b[0-9a-f]{16,}\b/],
] as const;
const ALL = new RegExp(PATTERNS.map(([, { source }]) => `(${source})`).join('|'), 'g');

export class Stable {
  readonly #names = new Map<string, string>();
  readonly #values = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  /** Keys of JSON whose text a client makes up. */
  readonly #madeUp: ReadonlySet<string>;

  /** `known`: name → value, such as tokens and addresses. */
  constructor(known: Readonly<Record<string, string>>, madeUp: readonly string[] = []) {
    for (const [name, value] of Object.entries(known)) this.#bind(value, `<${name}>`);
    this.#madeUp = new Set(madeUp);
  }

  text(text: string): string {
    const found = this.#known(text).replace(ALL, (value, ...groups: unknown[]) => {
      const kind = PATTERNS[groups.findIndex((group) => group !== undefined)]?.[0] ?? 'value';
      return kind === 'time' || isNow(Number(value)) ? '<time>' : this.#name(kind, value);
    });
    return this.#known(found);
  }

  #known(text: string): string {
    let named = text;
    for (const [value, name] of this.#names) named = named.replaceAll(value, name);
    return named;
  }

  json(value: unknown, key = ''): unknown {
    if (typeof value === 'string') return this.#madeUp.has(key) ? this.#name(key, value) : this.text(value);
    if (typeof value === 'number' && this.#madeUp.has(key)) return `<${key}>`; // a count, and in many other texts
    if (typeof value === 'number') return value >= 1e9 ? this.text(String(value)) : value;
    if (Array.isArray(value)) return value.map((one) => this.json(one, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [this.text(name), this.json(one, name)]));
  }

  /** The text with the values of this run; one that a client makes up is made up. */
  restored(text: string): string {
    return text.replace(/<(\w+)(?: (\d+))?>/g, (name, kind: string, number: string | undefined) => {
      const known = this.#values.get(name);
      if (known !== undefined || (number === undefined && kind !== 'time')) return known ?? name;
      const made = MADE[kind]?.(Number(number)) ?? `${kind}-${number}`;
      if (kind === 'time') return made;
      this.#counts.set(kind, Math.max(this.#counts.get(kind) ?? 0, Number(number)));
      this.#bind(made, name);
      return made;
    });
  }

  #name(kind: string, value: string): string {
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return this.#bind(value, `<${kind} ${count}>`);
  }

  #bind(value: string, name: string): string {
    this.#names.set(value, name);
    this.#values.set(name, value);
    return name;
  }
}

const MADE: Readonly<Record<string, (number: number) => string>> = {
  uuid: (number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  time: () => new Date().toISOString(),
  number: (number) => String(10 ** 17 + number),
};

/** Seconds or milliseconds since 1970 of about now. */
const isNow = (value: number): boolean =>
  [value, value * 1_000].some((ms) => Number.isInteger(value) && Math.abs(ms - Date.now()) < TIME_MS);
