// The life of a generation. Pure.
//
//   state       | activated | committed | failed | superseded | idle    | overdue
//   assembling  | active    | -         | failed | -          | -       | -
//   active      | -         | serving   | failed | -          | -       | -
//   serving     | -         | -         | -      | draining   | -       | -
//   draining    | -         | -         | -      | -          | retired | retired (what runs is cut)
//
//   G1  A generation serves only after its commit; a failed one never served.
//   G2  A superseded one starts nothing more, finishes what it runs, and lives at most its limit.
//   G3  What it decided while draining is committed like anything else and goes out through the accounts of the serving one.
export type GenerationState = 'assembling' | 'active' | 'serving' | 'draining' | 'retired' | 'failed';
export type GenerationEvent = 'activated' | 'committed' | 'failed' | 'superseded' | 'idle' | 'overdue';

const TABLE: Readonly<Record<GenerationState, Partial<Readonly<Record<GenerationEvent, GenerationState>>>>> = {
  assembling: { activated: 'active', failed: 'failed' },
  active: { committed: 'serving', failed: 'failed' },
  serving: { superseded: 'draining' },
  draining: { idle: 'retired', overdue: 'retired' },
  retired: {},
  failed: {},
};

/** The next state, or undefined when the event means nothing in this one. */
export const stepGeneration = (state: GenerationState, event: GenerationEvent): GenerationState | undefined =>
  TABLE[state][event];
