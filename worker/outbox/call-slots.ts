// Limits concurrent calls of an endpoint. Waiting calls keep their order. With `patienceMs`, a slow call gives up its slot before it ends. A hanging
// call then does not block the others.
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
    else await new Promise<void>((resolve) => of.waiting.push(resolve)); // the call that ends passes its slot on
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
