// Why a promise cannot be tried for an adapter: the adapter lacks a member, or its fixtures lack one.
import type { readAdapter } from '../../sdk/definition.ts';
import type { Fixture, Fixtures, Part } from './fixtures.ts';

export type Definition = ReturnType<typeof readAdapter>;

/** The missing part, and the reason if `fixtures.without` gives none. */
export interface Missing {
  /** Left out: no part is missing, and the reason says what the platform does instead. */
  readonly of?: Part;
  readonly reason: string;
}

/** Returns the missing part, or undefined. */
export type Lack = (definition: Definition, fixtures: Fixtures) => Missing | undefined;

/** The first missing part of several. */
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

/** Needs one of several fixtures. If all are missing, the first counts as missing. */
export const eitherGiven =
  (of: Fixture, ...others: readonly Fixture[]): Lack =>
  (_, fixtures) =>
    [of, ...others].every((key) => fixtures[key] === undefined)
      ? { of, reason: `none of ${[of, ...others].map((key) => `fixtures.${key}`).join(', ')} is given` }
      : undefined;

/** Needs a platform with HTTP. For a platform without it, the suite tries other promises. */
export const overHttp = given('platform');
/** Needs a fixture that shows sent messages. */
export const seen = eitherGiven('taken', 'platform');

/** Needs arrivals that come over the connection, or by catching up. */
export const heard: Lack = (_, { history }) => {
  if (history === undefined) return { of: 'history', reason: 'fixtures.history is not given' };
  return history.length === 0
    ? { of: 'history', reason: 'fixtures.history is empty: nothing comes but deliveries' }
    : undefined;
};

export type Change = 'edit' | 'react' | 'remove';
/** In an order in which one message can go through all of them. */
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

/** If the platform drops duplicates by their key, the adapter searches for none. */
export const finds: Lack = (definition, fixtures) =>
  fixtures.finds === true || idempotent(definition, fixtures) !== undefined
    ? given('finds')(definition, fixtures)
    : { reason: 'can.idempotent is set: the platform drops repeats, and nothing is looked for' };
