// Wire format of HTTP errors (RFC 9457): the body of every answer with status 400 and above.
import * as Type from 'typebox';

export const problemSchema = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  /** Stable. Clients decide by this field. */
  code: Type.String(),
  requestId: Type.String(),
  detail: Type.Optional(Type.String()),
  /** Advice for the reader. */
  hint: Type.Optional(Type.String()),
  details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
