// Checks the values of each registration. The SDK's types require the same, but plain JavaScript has no types.
import { SvcError } from '../../../shared/svc-error.ts';
import type { Capability, StateDefinition } from '../../handling/plan/capabilities.ts';
import { faultOfSchema, faultOfSpec } from './spec-shapes.ts';

const ANY_OF = {
  kind: ['message', 'edited', 'deleted', 'reaction', 'member', 'other'],
  order: ['before', 'normal', 'after'],
  where: ['private', 'group'],
  who: ['anyone', 'admin', 'operator'],
  scope: ['none', 'demo', 'full'],
  owner: ['plugin', 'conversation', 'user'],
  missed: ['skip', 'run_once'],
  approval: ['never', 'always'],
} as const;
const METHODS: readonly unknown[] = ['GET', 'POST', 'PUT', 'DELETE'];
/** Plain segments: none that would be a parameter or a pattern in other routers. */
const PATH = /^\/$|^(?:\/(?!\.{1,2}(?:\/|$))[^\s/?#*{}:][^\s/?#*{}]*)+$/;
const ADDRESS = /^[\w.~-]+$/;

/** Throws `definition_invalid` with the capability and its plugin. */
export function refuseBadSpec(capability: Capability): void {
  const { id, slot, run } = capability;
  const fault = typeof run === 'function' ? faultOf(capability) : 'its handler is not a function';
  if (fault !== undefined) throw new SvcError('definition_invalid', `${id}: ${fault}`, { details: { plugin: slot } });
}

export function refuseBadState({ id, slot, scope, value }: StateDefinition): void {
  const wrong = faultOfSchema(value);
  const fault = notOne('scope', scope, ANY_OF.owner) ?? (wrong === undefined ? undefined : `value ${wrong}`);
  if (fault !== undefined)
    throw new SvcError('definition_invalid', `state ${id} of root/${slot}: ${fault}`, { details: { plugin: slot } });
}

function faultOf(capability: Capability): string | undefined {
  const { kind, spec: given } = capability;
  if (typeof given !== 'object' || given === null) return 'its spec is not an object';
  const spec = given as object as Readonly<Record<string, unknown>>;
  return faultOfValues(capability, spec) ?? faultOfSpec(kind, spec) ?? faultOfNames(kind, spec);
}

function faultOfValues({ kind, name }: Capability, spec: Readonly<Record<string, unknown>>): string | undefined {
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
    case 'cron':
      return notOne('missed', spec['missed'] ?? 'skip', ANY_OF.missed);
    case 'tool':
      return notOne('approval', spec['approval'] ?? 'never', ANY_OF.approval);
    case 'dialog':
      return faultOfExpiry(spec['expiresMs']);
    case 'action':
    case 'task':
    case 'subscribe':
      return undefined;
  }
}

const LONGEST_MS = 8.64e15; // the largest time value of ECMAScript

const faultOfExpiry = (ms: unknown): string | undefined =>
  ms === undefined || (typeof ms === 'number' && ms > 0 && ms <= LONGEST_MS)
    ? undefined
    : `expiresMs is ${String(ms)}: it has to be milliseconds above 0`;

/** Checks names that refer to each other. The shape of these names is checked before. */
function faultOfNames(kind: Capability['kind'], spec: Readonly<Record<string, unknown>>): string | undefined {
  if (kind === 'dialog') {
    const { answers, steps } = spec as { readonly answers: object; readonly steps?: object };
    const stray = Object.keys(steps ?? {}).find((step) => !Object.hasOwn(answers, step));
    return stray === undefined
      ? undefined
      : `steps names ${stray}, which is no answer: known are ${Object.keys(answers).join(', ')}`;
  }
  if (kind !== 'command') return undefined;
  const args = Object.entries((spec['args'] ?? {}) as Readonly<Record<string, { readonly format?: string }>>);
  const secret = args.find(([, { format }]) => format === 'svc-secret');
  return secret === undefined ? undefined : `argument ${secret[0]} is a secret: those stand in a configuration alone`;
}

const isOne = (value: unknown, known: readonly unknown[]): boolean => known.includes(value);

const notOne = (key: string, value: unknown, known: readonly string[]): string | undefined =>
  isOne(value, known) ? undefined : `${key} is ${JSON.stringify(value) ?? 'missing'}: known are ${known.join(', ')}`;
