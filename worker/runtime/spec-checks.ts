// What a registration has to be for anything to come of it. The types of the SDK say the same; plain JavaScript has no types.
import { SvcError } from '../../shared/svc-error.ts';
import type { Capability, StateDefinition } from '../handling/capabilities.ts';

const ANY_OF = {
  kind: ['message', 'edited', 'deleted', 'reaction', 'member', 'other'],
  order: ['before', 'normal', 'after'],
  where: ['private', 'group'],
  who: ['anyone', 'admin', 'operator'],
  scope: ['none', 'demo', 'full'],
  owner: ['plugin', 'conversation', 'user'],
} as const;
const METHODS: readonly unknown[] = ['GET', 'POST', 'PUT', 'DELETE'];
/** Segments without what would be a parameter or a pattern elsewhere. */
const PATH = /^\/$|^(?:\/(?!\.{1,2}(?:\/|$))[^\s/?#*{}:][^\s/?#*{}]*)+$/;
const ADDRESS = /^[\w.~-]+$/;

/** Throws `definition_invalid`, naming the capability and its plugin. */
export function refuseBadSpec(capability: Capability): void {
  const { id, slot, kind, run } = capability;
  const hasHandler = kind === 'tool' || typeof run === 'function';
  const fault = hasHandler ? faultOf(capability) : 'its handler is not a function';
  if (fault !== undefined) throw new SvcError('definition_invalid', `${id}: ${fault}`, { details: { plugin: slot } });
}

export function refuseBadState({ id, slot, scope }: StateDefinition): void {
  const fault = notOne('scope', scope, ANY_OF.owner);
  if (fault !== undefined)
    throw new SvcError('definition_invalid', `state ${id} of root/${slot}: ${fault}`, { details: { plugin: slot } });
}

function faultOf({ kind, name, spec: given }: Capability): string | undefined {
  if (typeof given !== 'object' || given === null) return 'its spec is not an object';
  const spec = given as object as Readonly<Record<string, unknown>>;
  const { timeoutMs, attempts } = spec;
  if (timeoutMs !== undefined && !(Number(timeoutMs) > 0))
    return `timeoutMs is ${String(timeoutMs)}: it has to be above 0`;
  if (attempts !== undefined && !(Number.isInteger(attempts) && Number(attempts) > 0))
    return `attempts is ${String(attempts)}: it has to be a whole number above 0`;
  switch (kind) {
    case 'on':
      if (!isOne(spec['on'], ANY_OF.kind))
        return `there is no kind ${String(spec['on'])}: known are ${ANY_OF.kind.join(', ')}`;
      return (
        notOne('order', spec['order'] ?? 'normal', ANY_OF.order) ??
        notOne('where', spec['where'] ?? 'group', ANY_OF.where)
      );
    case 'command':
      return notOne('who', spec['who'] ?? 'anyone', ANY_OF.who);
    case 'route':
      if (!METHODS.includes(spec['method'])) return `methods are ${METHODS.join(', ')}`;
      if (!PATH.test(String(spec['path'])))
        return 'a path is taken as it is, /items/all: what varies goes into the query or the body';
      return notOne('scope', spec['scope'] ?? 'full', ANY_OF.scope);
    case 'webhook':
      return ADDRESS.test(name) ? undefined : 'a name in an address is of a-z, A-Z, 0-9, ".", "_", "~" and "-"';
    case 'action':
    case 'dialog':
    case 'task':
    case 'cron':
    case 'subscribe':
    case 'tool':
      return undefined;
  }
}

const isOne = (value: unknown, known: readonly unknown[]): boolean => known.includes(value);

const notOne = (key: string, value: unknown, known: readonly string[]): string | undefined =>
  isOne(value, known) ? undefined : `${key} is ${JSON.stringify(value) ?? 'missing'}: known are ${known.join(', ')}`;
