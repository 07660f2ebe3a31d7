// The schemas of the built-in plugins and adapters, compiled while building: with nothing but these a start loads no compiler.
import { dirname } from 'node:path';
import standalone from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'esbuild';
import type { TProperties } from 'typebox';
import { Capabilities, type Capability } from '../../worker/handling/plan/capabilities.ts';
import { BUILT_INS, HIDDEN } from '../../worker/runtime/loading/built-ins.ts';
import { makeSetup, type Registered } from '../../worker/runtime/loading/setup.ts';
import { readAdapter, readDefinition, readPlugin } from '../../worker/sdk/definition.ts';
import { createEngine, type Mode } from '../../worker/sdk/schema/ajv-engine.ts';
import { check } from '../../worker/sdk/schema/check.ts';
import { explicitSchema } from '../../worker/sdk/schema/explicit-schema.ts';

type Schemas = Readonly<Record<Mode, readonly object[]>>;
type Emit = (ajv: unknown, names: Readonly<Record<string, string>>) => string;

/** Puts the compiled validators in the place of worker/sdk/schema/precompiled.ts. */
export const pluginValidators: Plugin = {
  name: 'plugin-validators',
  setup(build) {
    build.onLoad({ filter: /worker[\\/]sdk[\\/]schema[\\/]precompiled\.ts$/ }, async ({ path }) => ({
      contents: await (source ??= moduleSource()),
      loader: 'js',
      resolveDir: dirname(path),
    }));
  },
};

let source: Promise<string> | undefined;

/** One module: a function that makes each validator, by the text that the SDK looks it up with. A start makes those of its own plugins. */
async function moduleSource(): Promise<string> {
  const schemas = await builtInSchemas();
  const parts = (['all', 'first'] as const).map((mode) => `${mode}: {\n${emitMode(mode, schemas[mode])}\n}`);
  return `export const PRECOMPILED = {\n${parts.join(',\n')}\n};\n`;
}

function emitMode(mode: Mode, schemas: readonly object[]): string {
  const ajv = createEngine(mode, { source: true });
  const texts = [
    ...new Set(schemas.map((schema) => JSON.stringify(explicitSchema(schema as Readonly<Record<string, unknown>>)))),
  ];
  const emit = ((standalone as { default?: unknown }).default ?? standalone) as Emit;
  return texts
    .map((text, i) => {
      ajv.addSchema(JSON.parse(text) as object, `v${i}`);
      const code = emit(ajv, { made: `v${i}` }).replace(/^"use strict";/, '');
      return `${JSON.stringify(text)}: () => {\n${code.replace(/\bexport const\b/g, 'const')}\nreturn made;\n}`;
    })
    .join(',\n');
}

async function builtInSchemas(): Promise<Schemas> {
  const schemas: Record<Mode, object[]> = { all: [], first: [] };
  for (const [slot, load] of Object.entries({ ...BUILT_INS, ...HIDDEN })) {
    const module = await load();
    if (readDefinition(module).kind === 'adapter') schemas.all.push(objectOf(readAdapter(module).account));
    else collect(slot, module, schemas);
  }
  return schemas;
}

function collect(slot: string, module: unknown, schemas: Record<Mode, object[]>): void {
  const plugin = readPlugin(module);
  const config = check(objectOf(plugin.config ?? {}), {});
  const registered: Registered = {
    capabilities: new Capabilities(),
    gauges: [],
    languages: [],
    counters: [],
    resources: [],
  };
  const { signal } = new AbortController();
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const setup = makeSetup({
    slot,
    config: config.ok ? config.value : {},
    log,
    signal,
    uses: plugin.uses ?? [],
    registered,
  });
  void plugin.setup(setup as never);
  schemas.all.push(objectOf(plugin.config ?? {}));
  for (const capability of registered.capabilities.all()) addSchemas(capability, schemas);
}

/** As handling checks them: what a person typed in full, what is stored or foreign up to the first fault. */
function addSchemas(capability: Capability, { all, first }: Record<Mode, object[]>): void {
  switch (capability.kind) {
    case 'command':
      return void all.push(objectOf(capability.spec.args ?? {}));
    case 'action':
    case 'task':
      return void first.push(objectOf(capability.spec.data));
    case 'dialog':
      all.push(...Object.values(capability.spec.answers));
      return void first.push(objectOf(capability.spec.answers));
    case 'webhook':
      return void first.push(capability.spec.body);
    case 'route':
      return void all.push(capability.spec.body ?? {});
    case 'tool':
      return void all.push(objectOf(capability.spec.input));
    case 'subscribe':
      return void first.push(capability.spec.schema ?? {});
    case 'on':
    case 'cron':
      return;
  }
}

const objectOf = (properties: TProperties): object => ({ type: 'object', properties });
const nothing = (): void => {};
