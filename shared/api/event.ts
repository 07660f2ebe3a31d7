// Wire format of the event stream: envelope, control frames and the page of `?format=json`.
// SSE (`id`, `event`, `data` lines) and WebSocket (one JSON message a frame) use the same envelope.

import type { Static } from 'typebox';
import * as Type from 'typebox';

export const STREAM_PROTOCOL = 'svc-sse/1';

/** CloudEvents 1.0. With demo scope `data` holds only the fields its type allows; `actor` and the causes are omitted. */
export const eventEnvelopeSchema = Type.Object({
  specversion: Type.Literal('1.0'),
  /** `<epoch>.<seq>`. */
  id: Type.String(),
  /** `/svc/<projectId>`. */
  source: Type.String(),
  type: Type.String(),
  /** RFC 3339. */
  time: Type.String(),
  datacontenttype: Type.Literal('application/json'),
  /** `urn:svc:event:<type>:<version>`. */
  dataschema: Type.String(),
  subject: Type.Optional(Type.String()),
  runtimeid: Type.String(),
  generation: Type.Optional(Type.Integer()),
  endpoint: Type.Optional(Type.String()),
  runid: Type.Optional(Type.String()),
  actor: Type.Optional(Type.String()),
  correlationid: Type.Optional(Type.String()),
  causationid: Type.Optional(Type.String()),
  data: Type.Unknown(),
});

export const gapReasonSchema = Type.Enum(['malformed', 'epoch_changed', 'ahead', 'expired', 'slow_consumer']);

export const helloSchema = Type.Object({
  protocol: Type.Literal(STREAM_PROTOCOL),
  epoch: Type.String(),
  head: Type.Integer(),
  oldest: Type.Integer(),
  resumed: Type.Boolean(),
  replay: Type.Union([Type.Object({ from: Type.Integer(), to: Type.Integer(), count: Type.Integer() }), Type.Null()]),
  heartbeatMs: Type.Integer(),
  serverTime: Type.String(),
});

export const gapSchema = Type.Object({
  reason: gapReasonSchema,
  requested: Type.String(),
  epoch: Type.String(),
  oldest: Type.Integer(),
  head: Type.Integer(),
  missed: Type.Union([Type.Integer(), Type.Null()]),
  /** API paths whose state the client should reload. */
  resync: Type.Array(Type.String()),
});

export const eventPageSchema = Type.Object({
  items: Type.Array(eventEnvelopeSchema),
  /** `after` for the next page. Absent at the end of the history. */
  next: Type.Optional(Type.String()),
  /** End of this page. A subscription can continue from here. */
  position: Type.String(),
  epoch: Type.String(),
  oldest: Type.Integer(),
  head: Type.Integer(),
});

/** A client's message over the WebSocket. The answer repeats `call`. */
export const webSocketCallSchema = Type.Union([
  Type.Object({
    kind: Type.Literal('resume'),
    call: Type.Optional(Type.String()),
    lastEventId: Type.Optional(Type.String()),
    types: Type.Optional(Type.String()),
    endpoints: Type.Optional(Type.String()),
    gap: Type.Optional(Type.Enum(['oldest', 'head', 'fail'])),
  }),
  Type.Object({ kind: Type.Literal('ping'), call: Type.Optional(Type.String()) }),
]);

export type EventEnvelope = Static<typeof eventEnvelopeSchema>;
export type GapReason = Static<typeof gapReasonSchema>;
export type Hello = Static<typeof helloSchema>;
export type GapNotice = Static<typeof gapSchema>;
export type EventPage = Static<typeof eventPageSchema>;
export type WebSocketCall = Static<typeof webSocketCallSchema>;
