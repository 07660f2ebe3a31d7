import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import type { JsonSchema } from '../../../shared/config/schema/json-schema.ts';
import { publishedSchema } from '../../../shared/config/schema/published-schema.ts';
import { configSchema, validateConfig } from '../../../shared/config/schema/validator.ts';
import { publishedSchemaText, validatorModuleSource } from '../../../shared/config/schema/validator-source.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

const published = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(
  JSON.parse(publishedSchemaText()) as object,
);

describe('the schema of svc.config.yml', () => {
  it('describes every key (SCHEMA-1)', () => {
    const bare = (schema: JsonSchema, path: string): string[] => [
      ...(schema.description === undefined ? [path] : []),
      ...Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => bare(inner, `${path}.${key}`)),
      ...(schema.items === undefined ? [] : bare(schema.items, `${path}[]`)),
    ];

    assert.deepEqual(bare(configSchema, 'config'), []);
  });

  it('takes no unknown key outside of plugins (SCHEMA-2)', () => {
    const open = (schema: JsonSchema, path: string): string[] => [
      ...(schema.type === 'object' && schema.additionalProperties !== false ? [path] : []),
      ...Object.entries({ ...schema.properties, ...schema.patternProperties }).flatMap(([key, inner]) =>
        open(inner, `${path}/${key}`),
      ),
      ...(schema.items === undefined ? [] : open(schema.items, `${path}/items`)),
    ];

    assert.deepEqual(
      open(configSchema, '').filter((path) => !path.startsWith('/plugins/')),
      [],
    );
  });

  it('has defaults that it takes itself', () => {
    const value = { http: { token: '${HTTP_TOKEN}' } };

    assert.deepEqual(validateConfig(value), []);
  });
});

describe('the published schema', () => {
  it('takes the minimum configuration, empty groups, and references for any value', () => {
    const file = readFileSync(fileURLToPath(new URL('../../../svc.config.yml', import.meta.url)), 'utf8');

    for (const text of [
      file,
      'http:\n  token: ${T}\n  port: ${PORT:-80}\n  limits:\nplugins:\n  echo:\n',
      'http: {token: "${T}", readiness: {database: "${DB}"}}',
    ]) {
      assert.ok(published(parse(text)), `${text}: ${JSON.stringify(published.errors)}`);
    }
  });

  it('refuses literals for secrets, unknown keys, wrong types, and a file without a token', () => {
    for (const text of [
      'http: {token: abc}',
      'http: {token: "${T:-abc}"}',
      'http: {token: "${T}", prot: 1}',
      'http: {token: "${T}", port: x}',
      'log_level: info',
      '{}',
    ]) {
      assert.equal(published(parse(text)), false, text);
    }
  });

  it('names its dialect, for editors', () => {
    assert.equal(publishedSchema(configSchema)['$schema'], 'https://json-schema.org/draft/2020-12/schema');
  });
});

describe('the precompiled validator', () => {
  it('needs no other module, and finds what the compiled one finds', async (t) => {
    const source = validatorModuleSource();
    const file = join(temporaryProject(t, { config: null }).path, 'validator.mjs');
    writeFileSync(file, source);
    const built = (await import(pathToFileURL(file).href)) as {
      validateConfig: typeof validateConfig;
      configSchema: unknown;
    };

    assert.doesNotMatch(source, /\brequire\(|^import /m);
    for (const text of [
      '{}',
      'http: {token: x, port: a, x: 1}\nplugins: {A: {}}\n',
      'http: {token: x}\ninbox: {maxAttempts: 0}\n',
      'log_level: x',
    ]) {
      const [one, two]: unknown[] = [parse(text), parse(text)];
      assert.deepEqual(built.validateConfig(one), validateConfig(two), text);
      assert.deepEqual(one, two);
    }
    assert.deepEqual(built.configSchema, JSON.parse(JSON.stringify(configSchema)));
  });
});
