// Why a promise cannot be tried for an adapter: what the adapter does not have, or its fixtures do not say.
import type { readAdapter } from '../../definition.ts';
import type { Fixtures } from './fixtures.ts';

export type Definition = ReturnType<typeof readAdapter>;

/** The reason; undefined where there is none. */
export type Lack = (definition: Definition, fixtures: Fixtures) => string | undefined;

/** The first of them. */
export const needs =
  (...lacks: readonly Lack[]): Lack =>
  (definition, fixtures) =>
    lacks.map((lack) => lack(definition, fixtures)).find((reason) => reason !== undefined);

export const has =
  (part: 'webhook' | 'connect' | 'catchUp' | 'check'): Lack =>
  (definition) =>
    definition[part] === undefined ? `the adapter has no ${part}` : undefined;

export const given =
  (key: keyof Fixtures): Lack =>
  (_, fixtures) =>
    fixtures[key] === undefined ? `fixtures.${key} is not given` : undefined;

/** One of them. */
export const eitherGiven =
  (...keys: readonly (keyof Fixtures)[]): Lack =>
  (_, fixtures) =>
    keys.every((key) => fixtures[key] === undefined)
      ? `none of ${keys.map((key) => `fixtures.${key}`).join(', ')} is given`
      : undefined;

/** That something comes by itself: over the connection, or when it catches up. */
export const heard: Lack = (_, { history }) => {
  if (history === undefined) return 'fixtures.history is not given';
  return history.length === 0 ? 'fixtures.history is empty: nothing comes but deliveries' : undefined;
};

export const idempotent: Lack = ({ can }) =>
  (can.idempotent ?? false) !== false ? undefined : 'can.idempotent is not set: the platform drops no repeats';

export const not =
  (lack: Lack, reason: string): Lack =>
  (definition, fixtures) =>
    lack(definition, fixtures) === undefined ? reason : undefined;
