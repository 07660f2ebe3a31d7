// The page of limits of the operator's guide against the configuration: a bound that can be set is named there, with its default.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { configSchema } from '../../shared/config/schema/schema.ts';
import { ROOT } from './source-tree.ts';

interface Schema {
  readonly type?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const ROWS = readFileSync(join(ROOT, 'deploy/guide/limits.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('|'));
/** A number that is no bound. */
const NO_BOUND = new Set(['http.port']);
const UNITS = [
  ['GiB', 1_024 ** 3],
  ['MiB', 1_024 ** 2],
  ['KiB', 1_024],
] as const;

function* boundsOf(schema: Schema, path: readonly string[] = []): Generator<{ key: string; value: number }> {
  const key = path.join('.');
  if (schema.type === 'integer' && !NO_BOUND.has(key)) yield { key, value: Number(schema.default) };
  for (const [name, inner] of Object.entries(schema.properties ?? {})) yield* boundsOf(inner, [...path, name]);
}

function asWritten(key: string, value: number): string {
  const unit = /bytes$/i.test(key) ? UNITS.find(([, size]) => value >= size && value % size === 0) : undefined;
  return unit === undefined ? value.toLocaleString('en') : `${value / unit[1]} ${unit[0]}`;
}

describe('the page of limits', () => {
  const bounds = [...boundsOf(configSchema as Schema)];

  it('names each bound of the configuration, with its default', () => {
    const missing = bounds.filter(
      ({ key, value }) =>
        !ROWS.some((row) => row.includes(`\`${key}\``) && row.split('|')[2]?.trim().startsWith(asWritten(key, value))),
    );

    assert.ok(bounds.length > 20, String(bounds.length));
    assert.deepEqual(missing, []);
  });

  it('names no key that is not there', () => {
    const named = ROWS.flatMap((row) => [...row.matchAll(/`([a-z]+(?:\.[a-zA-Z]+)+)`/g)].map(([, key = '']) => key));
    const known = new Set(bounds.map(({ key }) => key));

    assert.deepEqual(
      named.filter((key) => !known.has(key) && key !== 'svc.gap' && key !== 'svc.config.yml'),
      [],
    );
  });
});
