// How many calls an endpoint makes at once. What waits for its place keeps its order of asking. With a patience, a call that takes longer
// gives its place away before it ends: one that hangs holds up nobody.
import type { Clock } from '../../shared/time/clock.ts';

export interface CallSlotsOptions {
  readonly most: number;
  readonly patienceMs?: number;
  readonly clock: Clock;
}

export class CallSlots {
  readonly #options: CallSlotsOptions;
  readonly #endpoints = new Map<string, { busy: number; readonly waiting: (() => void)[] }>();

  constructor(options: CallSlotsOptions) {
    this.#options = options;
  }

  async use<T>(endpoint: string, call: () => Promise<T>): Promise<T> {
    const { most, patienceMs, clock } = this.#options;
    const of = this.#endpoints.get(endpoint) ?? { busy: 0, waiting: [] };
    this.#endpoints.set(endpoint, of);
    if (of.busy < most) of.busy += 1;
    else await new Promise<void>((resolve) => of.waiting.push(resolve)); // whoever leaves hands its place on
    let isHeld = true;
    const leave = (): void => {
      if (!isHeld) return;
      isHeld = false;
      const next = of.waiting.shift();
      if (next !== undefined) return next();
      of.busy -= 1;
      if (of.busy === 0) this.#endpoints.delete(endpoint);
    };
    const timer = patienceMs === undefined ? undefined : clock.after(patienceMs, leave);
    try {
      return await call();
    } finally {
      timer?.cancel();
      leave();
    }
  }
}
