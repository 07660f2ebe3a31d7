// Fields beside every list of what a generation serves. They tell whether a generation serves at all; otherwise such a list is empty.
import * as Type from 'typebox';
import { nullableText } from '../item.ts';

/** Why the newest configuration does not serve. The reason only with full scope. */
export const failureSchema = Type.Union([Type.Object({ code: Type.String(), reason: nullableText }), Type.Null()]);

export const servingFields = {
  generation: Type.Union([Type.Integer(), Type.Null()], {
    description:
      'The generation that serves; null where none does: the list is empty then, whatever the configuration names',
  }),
  lastFailure: Type.Optional(
    Type.Union(failureSchema.anyOf, {
      description: 'There where no generation serves: why, as far as it is known; the reason for full scope',
    }),
  ),
};
