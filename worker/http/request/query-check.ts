// Checks the query of a request to /api against the parameters of its route. Unknown parameters are refused, so a misspelt filter is
// noticed.
import { MOST_PAGE_ITEMS } from '../../../shared/item-limits.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { QueryField } from '../routes/route.ts';

/** Parameters of every paged list. */
export const PAGE_QUERY = {
  after: { type: 'string', description: 'Cursor: the `next` of the page before', maxLength: 500 },
  limit: { type: 'integer', description: 'How many', minimum: 1, maximum: MOST_PAGE_ITEMS, default: 50 },
} as const satisfies Record<string, QueryField>;

type Fields = Readonly<Record<string, QueryField>>;

/** Throws `invalid_request` with the name of the parameter. Pure. */
export function checkQuery(query: Readonly<Record<string, string | undefined>>, fields: Fields): void {
  for (const [name, value] of Object.entries(query)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) {
      const known = Object.keys(fields).join(', ');
      throw new SvcError('invalid_request', 'a parameter of the query is not known here', {
        hint: known === '' ? 'This address takes no parameters.' : `This address takes: ${known}.`,
      });
    }
    if (value !== undefined) checkValue(name, value, field);
  }
}

function checkValue(name: string, value: string, field: QueryField): void {
  if (field.type === 'integer') {
    const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= field.minimum && number <= field.maximum) return;
    throw new SvcError(
      'invalid_request',
      `the parameter ${name} must be an integer from ${field.minimum} to ${field.maximum}`,
    );
  }
  if (value.length > field.maxLength) {
    throw new SvcError('invalid_request', `the parameter ${name} has at most ${field.maxLength} characters`);
  }
  if (field.enum !== undefined && !field.enum.includes(value)) {
    throw new SvcError('invalid_request', `the parameter ${name} must be one of ${field.enum.join(', ')}`);
  }
}

/** The value of an integer parameter that checkQuery has accepted, or its default. */
export function integerOf(query: Readonly<Record<string, string | undefined>>, name: string, fields: Fields): number {
  const field = fields[name];
  if (field?.type !== 'integer') throw new Error(`the parameter ${name} is not declared as an integer`);
  const value = query[name];
  if (value !== undefined) return Number(value);
  if (field.default === undefined) throw new Error(`the parameter ${name} has no default`);
  return field.default;
}
