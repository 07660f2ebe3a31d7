// Why a promise cannot be tried for an adapter: what the adapter does not have, or its fixtures do not say.
import type { readAdapter } from '../../sdk/definition.ts';
import type { Fixture, Fixtures, Part } from './fixtures.ts';

export type Definition = ReturnType<typeof readAdapter>;

/** What is missing, and the reason where `fixtures.without` gives none. */
export interface Missing {
  /** Left out: nothing is; the reason says what the platform does instead. */
  readonly of?: Part;
  readonly reason: string;
}

/** Undefined where nothing is missing. */
export type Lack = (definition: Definition, fixtures: Fixtures) => Missing | undefined;

/** The first of them. */
export const needs =
  (...lacks: readonly Lack[]): Lack =>
  (definition, fixtures) => {
    for (const lack of lacks) {
      const missing = lack(definition, fixtures);
      if (missing !== undefined) return missing;
    }
    return undefined;
  };

export const has =
  (of: 'webhook' | 'connect' | 'catchUp' | 'check'): Lack =>
  (definition) =>
    definition[of] === undefined ? { of, reason: `the adapter has no ${of}` } : undefined;

export const given =
  (of: Fixture): Lack =>
  (_, fixtures) =>
    fixtures[of] === undefined ? { of, reason: `fixtures.${of} is not given` } : undefined;

/** One of them; where none is there, it is the first that is missing. */
export const eitherGiven =
  (of: Fixture, ...others: readonly Fixture[]): Lack =>
  (_, fixtures) =>
    [of, ...others].every((key) => fixtures[key] === undefined)
      ? { of, reason: `none of ${[of, ...others].map((key) => `fixtures.${key}`).join(', ')} is given` }
      : undefined;

/** Of platforms that are reached over their connection alone the suite tries something else. */
export const overHttp = given('platform');
/** Whoever sees what was sent. */
export const seen = eitherGiven('taken', 'platform');

/** That something comes by itself: over the connection, or when it catches up. */
export const heard: Lack = (_, { history }) => {
  if (history === undefined) return { of: 'history', reason: 'fixtures.history is not given' };
  return history.length === 0
    ? { of: 'history', reason: 'fixtures.history is empty: nothing comes but deliveries' }
    : undefined;
};

export type Change = 'edit' | 'react' | 'remove';
/** In the order in which one message can go through all of them. */
export const CHANGES_OF_A_MESSAGE: readonly Change[] = ['edit', 'react', 'remove'];

export const can =
  (of: Change): Lack =>
  (definition) =>
    definition.can[of] === true ? undefined : { of, reason: `can.${of} is not set` };

export const canChange: Lack = (definition) =>
  CHANGES_OF_A_MESSAGE.some((kind) => definition.can[kind] === true)
    ? undefined
    : { of: 'edit', reason: 'it can neither edit, react nor remove' };

export const idempotent: Lack = (definition) =>
  (definition.can.idempotent ?? false) !== false
    ? undefined
    : { of: 'idempotent', reason: 'can.idempotent is not set: the platform drops no repeats' };

/** Where the platform itself drops repeats by their key, nothing is looked for. */
export const finds: Lack = (definition, fixtures) =>
  fixtures.finds === true || idempotent(definition, fixtures) !== undefined
    ? given('finds')(definition, fixtures)
    : { reason: 'can.idempotent is set: the platform drops repeats, and nothing is looked for' };
