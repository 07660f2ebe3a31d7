// Errors of the HTTP interface on the wire (RFC 9457): what every answer of 400 and above holds.
import * as Type from 'typebox';

export const problemSchema = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  /** Stable: what a client decides on. */
  code: Type.String(),
  requestId: Type.String(),
  detail: Type.Optional(Type.String()),
  /** What the reader can do about it. */
  hint: Type.Optional(Type.String()),
  details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
