// Selections of series in expressions of Prometheus, and whether a scrape has one of them.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples of a scrape. */
export function samplesOf(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/u.exec(line) ?? [];
    if (name === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/gu)].map(
      ([, key = '', of = '']) => [key, of] as const,
    );
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

export interface Selector {
  readonly text: string;
  readonly name: string;
  readonly matchers: readonly { readonly label: string; readonly isPattern: boolean; readonly value: string }[];
}

/** Labels that Prometheus adds to a scrape. */
const ADDED = new Set(['job', 'instance']);

/** Selections of figures of a host in an expression. Variables of a dashboard match anything. */
export function selectorsOf(expression: string): readonly Selector[] {
  return [...expression.matchAll(/\b(svc_\w+)(?:\{([^}]*)\})?/gu)].map(([text, name = '', inner = '']) => ({
    text,
    name,
    matchers: [...inner.matchAll(/(\w+)(=~?)"([^"]*)"/gu)]
      .map(([, label = '', operator, value = '']) => ({
        label,
        isPattern: operator === '=~',
        value: value.startsWith('$') ? '.*' : value,
      }))
      .filter(({ label }) => !ADDED.has(label)),
  }));
}

/** Labels that an expression groups by. */
export const groupedBy = (expression: string): readonly string[] =>
  [...expression.matchAll(/\bby \(([^)]*)\)/gu)]
    .flatMap(([, labels = '']) => labels.split(/,\s*/u))
    .filter((label) => !ADDED.has(label));

export const selects = ({ name, matchers }: Selector, sample: Sample): boolean =>
  sample.name === name &&
  matchers.every(({ label, isPattern, value }) => {
    const has = sample.labels[label];
    return has !== undefined && (isPattern ? new RegExp(`^(?:${value})$`, 'u').test(has) : has === value);
  });
