// Wire format of the figures of the last hour.
import type { Static } from 'typebox';
import * as Type from 'typebox';

export const figuresSchema = Type.Object({
  /** Distance of the samples. Those of the time before the start, made of stored counts, stand elsewhere. */
  stepSeconds: Type.Integer(),
  /** Times of the samples, the oldest first. Empty in the first half minute. */
  times: Type.Array(Type.String()),
  series: Type.Array(
    Type.Object({
      /** As `/api/metrics` has it. */
      name: Type.String(),
      labels: Type.Record(Type.String(), Type.String()),
      /** Beside `times`; null: not there, or it could not be read. */
      values: Type.Array(Type.Union([Type.Number(), Type.Null()])),
    }),
  ),
  /** Figures that could not be read for the newest sample. */
  unread: Type.Array(Type.String()),
});

export type ShownFigures = Static<typeof figuresSchema>;
