// Reads definitions in the host: from a module's default export to a typed plugin or adapter.
import type { TProperties } from 'typebox';
import type { AdapterDefinition } from './adapter.ts';
import { invalid, readDefinition } from './definition-mark.ts';
import { ADAPTER, PLUGIN } from './definition-shapes.ts';
import type { Parts } from './parts.ts';
import { faultOfCan } from './platform/can-fault.ts';
import type { Done, Setup } from './plugin.ts';
import { faultOfShape, type Shape } from './schema/shape.ts';

export { type DefinitionMark, readDefinition } from './definition-mark.ts';

/** A plugin as its author passed it to `definePlugin`, without the types of its schemas. The host checks values at run time. */
export interface PluginDefinition {
  readonly name: string;
  readonly config?: TProperties;
  readonly uses?: readonly (keyof Parts)[];
  setup(p: Setup<Readonly<Record<string, unknown>>, Partial<Parts>>): Done;
}

/** Throws an error with code `definition_invalid` if the module is not a plugin for this SDK. */
export function readPlugin(module: unknown): PluginDefinition {
  if (readDefinition(module).kind !== 'plugin')
    throw invalid('is an adapter, not a plugin: name it in endpoints of a slot, or export default definePlugin(…)');
  const plugin = named(module) as PluginDefinition;
  if (typeof plugin.setup !== 'function') throw invalid('has no setup(p): definePlugin({ name, setup(p) { … } })');
  refuseBadShape(plugin, PLUGIN);
  return plugin;
}

/** Throws an error with code `definition_invalid` if the module is not an adapter for this SDK. */
export function readAdapter(module: unknown): AdapterDefinition<TProperties> {
  if (readDefinition(module).kind !== 'adapter')
    throw invalid('is a plugin, not an adapter: export default defineAdapter(…)');
  const adapter = named(module) as AdapterDefinition<TProperties>;
  if (typeof adapter.send !== 'function') throw invalid('has no send(call, link)');
  const fault = faultOfCan(adapter);
  if (fault !== undefined) throw invalid(fault);
  refuseBadShape(adapter, ADAPTER);
  return adapter;
}

function refuseBadShape(definition: object, shape: Shape): void {
  const fault = faultOfShape(definition, shape);
  if (fault !== undefined) throw invalid(fault);
}

function named(module: unknown): object {
  const { name } = module as { readonly name?: unknown };
  if (typeof name !== 'string' || !/^[a-z][a-z0-9-]{0,62}$/.test(name))
    throw invalid('needs a name of small letters, digits and dashes');
  return module as object;
}
