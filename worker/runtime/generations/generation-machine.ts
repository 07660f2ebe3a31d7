// The state machine of a generation. Pure.
//
//     state       | activated | committed | failed | superseded | idle    | overdue
//     assembling  | active    | -         | failed | -          | -       | -
//     active      | -         | serving   | failed | -          | -       | -
//     serving     | -         | -         | -      | draining   | -       | -
//     draining    | -         | -         | -      | -          | retired | retired (running handlers are cut)
//
//   GENERATION-1  A generation serves only after its commit. A failed one never served.
//   GENERATION-2  A superseded generation starts nothing more, finishes its running handlers, and ends at its time limit.
//   GENERATION-3  Decisions made while draining are committed as usual and sent through the accounts of the serving generation.
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

/** The next state. Undefined if the event has no meaning in this state. */
export const stepGeneration = (state: GenerationState, event: GenerationEvent): GenerationState | undefined =>
  TABLE[state][event];
