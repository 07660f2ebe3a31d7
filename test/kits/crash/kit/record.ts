// What the driver did and saw, kept outside the process that is killed: each delivery with what became of its request.
/* oxlint-disable eslint/no-restricted-properties -- the order of what this process did */

export type Via = 'webhook' | 'sandbox' | 'irc';
/** `echo` and `ping` are answered once, `remind` twice (at once, and when it is due), `plain` is only handled. */
export type Kind = 'echo' | 'plain' | 'ping' | 'remind';
/**
 * `cut`: the connection ended without an answer, nobody knows whether it was stored; `refused`: answered 503, so it must not be stored;
 * `written`: a line of IRC, which nobody acknowledges.
 */
export type Fate = 'open' | 'acknowledged' | 'cut' | 'refused' | 'written';

export interface Delivery {
  readonly via: Via;
  readonly endpoint: string;
  readonly deliveryId: string;
  readonly conversation: string;
  readonly kind: Kind;
  readonly text: string;
  /** In the answer of an echo; nothing else has it. */
  readonly token: string;
  readonly startedAt: number;
  fate: Fate;
  endedAt: number | undefined;
  /** It was sent again after its acknowledgement. */
  isRepeated: boolean;
}

export class CrashRecord {
  readonly deliveries = new Map<string, Delivery>();
  /** What no oracle has to conclude: seen at once to be wrong. */
  readonly faults: string[] = [];
  /** Codes of the refusals. */
  readonly refusals = new Map<string, number>();
  #acknowledged = 0;
  #firstAck: () => void = () => {};

  add(delivery: Omit<Delivery, 'fate' | 'endedAt' | 'isRepeated' | 'startedAt'>, fate: Fate = 'open'): Delivery {
    const kept = { ...delivery, startedAt: performance.now(), fate, endedAt: undefined, isRepeated: false };
    this.deliveries.set(keyOf(delivery.endpoint, delivery.deliveryId), kept);
    return kept;
  }

  end(delivery: Delivery, fate: Fate): void {
    delivery.fate = fate;
    delivery.endedAt = performance.now();
    if (fate !== 'acknowledged') return;
    this.#acknowledged += 1;
    this.#firstAck();
  }

  refuse(delivery: Delivery, code: string): void {
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
    this.end(delivery, 'refused');
  }

  fault(text: string): void {
    if (this.faults.length < 20) this.faults.push(text);
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Resolves at the next acknowledgement. */
  nextAck(): Promise<void> {
    return new Promise((resolve) => {
      this.#firstAck = resolve;
    });
  }
}

export const keyOf = (endpoint: string, deliveryId: string): string => `${endpoint} ${deliveryId}`;
