// One figure beside its baseline of the same run: a row of the table, and an entry of the JSON document.
export interface Line {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What the same run measured it against. */
  readonly baseline?: { readonly name: string; readonly value?: number | undefined };
  /** Of value to baseline; printed where it says something. */
  readonly ratio?: number;
  readonly goal?: { readonly text: string; readonly met: boolean };
}

export interface Report {
  add(line: Line): void;
  /** Something that could not be measured, and why. */
  skip(name: string, reason: string): void;
  end(): void;
}

/** A table on the go, or with `json` one document at the end. */
export function openReport(json: boolean): Report {
  const lines: Line[] = [];
  const skipped: { readonly name: string; readonly reason: string }[] = [];
  if (!json) console.log(`node ${process.version}\n${row('figure', 'value', 'baseline', 'ratio')}  goal`);
  return {
    add(line) {
      lines.push(line);
      if (!json) console.log(textOf(line));
    },
    skip(name, reason) {
      skipped.push({ name, reason });
      if (!json) console.log(`${name.padEnd(NAME_WIDTH)} skipped: ${reason}`);
    },
    end() {
      if (json) console.log(JSON.stringify({ node: process.version, lines, skipped }, null, 2));
    },
  };
}

const NAME_WIDTH = 54;

function textOf({ name, value, unit, baseline, ratio, goal }: Line): string {
  const against =
    baseline === undefined
      ? ''
      : `${baseline.name}${baseline.value === undefined ? '' : ` ${withUnit(baseline.value, unit)}`}`;
  const verdict = goal === undefined ? '' : `${goal.text} ${goal.met ? 'met' : 'MISSED'}`;
  return `${row(name, withUnit(value, unit), against, ratio?.toFixed(2) ?? '')}  ${verdict}`.trimEnd();
}

const row = (name: string, value: string, baseline: string, ratio: string): string =>
  `${name.padEnd(NAME_WIDTH)} ${value.padStart(13)} ${baseline.padStart(34)} ${ratio.padStart(7)}`;

const withUnit = (value: number, unit: string): string => `${rounded(value)}${unit === '' ? '' : ` ${unit}`}`;

export const rounded = (value: number): string =>
  Number.isInteger(value) || Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1);
