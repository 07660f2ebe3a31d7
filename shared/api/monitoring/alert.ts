// Wire format of alerts and silences. Reasons and names of operators are included only with full scope.
import type { Static } from 'typebox';
import * as Type from 'typebox';
import { nullableText } from '../item.ts';

const NAME = { pattern: '^[A-Za-z]{1,64}$', maxLength: 64 };
const key = Type.String({
  maxLength: 300,
  description: 'Values of the labels. Empty or left out: every alert of the name.',
});

export const silenceSchema = Type.Object({
  name: Type.String(),
  key: Type.String(),
  until: Type.String(),
  /** The following fields only with full scope. */
  reason: Type.Optional(Type.String()),
  by: Type.Optional(Type.String()),
});

export const alertSchema = Type.Object({
  name: Type.String(),
  /** Values of its labels; empty without labels. */
  key: Type.String(),
  severity: Type.Enum(['critical', 'warning']),
  /** `pending`: true, but not for long enough. `quiet`: it fired, and is not true now. */
  state: Type.Enum(['pending', 'firing', 'quiet']),
  since: Type.String(),
  firedAt: nullableText,
  labels: Type.Record(Type.String(), Type.String()),
  value: Type.Number(),
  summary: Type.String(),
  description: Type.String(),
  remedy: Type.String(),
  /** The command that shows what it means, where to look and what to do. */
  runbook: Type.String(),
  /** When it was told last; null: not at all. */
  toldAt: nullableText,
  flapping: Type.Boolean(),
  silenced: Type.Boolean(),
  /** The critical alert that says the same. */
  mutedBy: nullableText,
});

export const unknownRuleSchema = Type.Object({ name: Type.String(), figures: Type.Array(Type.String()) });

export const alertsSchema = Type.Object({
  /** Time of the last look; null before the first. */
  at: nullableText,
  /** Alerts that fire, and are neither silenced nor muted. */
  firing: Type.Integer(),
  alerts: Type.Array(alertSchema),
  /** Rules that cannot be evaluated now, and the figures that could not be read. What fired by them goes on; what is new is not seen. */
  unknown: Type.Array(unknownRuleSchema),
  silences: Type.Array(silenceSchema),
  /** Number of targets in `alerts.notify`. */
  targets: Type.Integer(),
});

export const alertSilenceSchema = Type.Object(
  {
    name: Type.String(NAME),
    key: Type.Optional(key),
    until: Type.String({ maxLength: 40, description: 'RFC 3339; at most a year away.' }),
    reason: Type.String({ minLength: 1, maxLength: 500 }),
  },
  { additionalProperties: false },
);

export const alertUnsilenceSchema = Type.Object(
  { name: Type.String(NAME), key: Type.Optional(key) },
  { additionalProperties: false },
);

export const alertTestSchema = Type.Object(
  { endpoint: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })) },
  { additionalProperties: false },
);

/** What was put into the outbox. */
export const alertTestedSchema = Type.Object({
  sends: Type.Array(Type.Object({ id: Type.String(), endpoint: Type.String(), conversation: Type.String() })),
});

export type ShownAlerts = Static<typeof alertsSchema>;
export type ShownAlert = Static<typeof alertSchema>;
export type UnknownRule = Static<typeof unknownRuleSchema>;
export type ShownSilence = Static<typeof silenceSchema>;
export type SilenceAsk = Static<typeof alertSilenceSchema>;
export type UnsilenceAsk = Static<typeof alertUnsilenceSchema>;
export type AlertTestAsk = Static<typeof alertTestSchema>;
export type AlertTested = Static<typeof alertTestedSchema>;
