// Runs the supervisor's side work: logs, records, sockets, reports. A fault in it cannot stop the state machine.
//
//   ASIDE-1  Work that runs here never throws. No fault comes between an event and its transition, or between a timer and its next run.
//   ASIDE-2  A fault is logged once. `runtime status` shows the fault in its notes until the same work has succeeded.
import { messageOf } from '../../shared/svc-error.ts';

export type TellFault = (what: string, reason: string) => void;

export class Asides {
  readonly #tell: TellFault;
  readonly #faults = new Map<string, string>();

  constructor(tell: TellFault) {
    this.#tell = tell;
  }

  /** One line for each fault that persists. */
  get notes(): readonly string[] {
    return [...this.#faults].map(([what, reason]) => `the supervisor could not ${what}: ${reason}`);
  }

  /** Returns the result of `work`, or undefined if `work` threw. `what` completes the sentence "could not …". */
  run<T>(what: string, work: () => T): T | undefined {
    try {
      const result = work();
      this.#faults.delete(what);
      return result;
    } catch (error) {
      this.#note(what, error);
      return undefined;
    }
  }

  /** Like `run` for asynchronous work: the promise never rejects. */
  async settle<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      this.#faults.delete(what);
      return result;
    } catch (error) {
      this.#note(what, error);
      return undefined;
    }
  }

  #note(what: string, error: unknown): void {
    const reason = messageOf(error);
    if (this.#faults.get(what) === reason) return;
    this.#faults.set(what, reason);
    try {
      this.#tell(what, reason);
    } catch {
      // The log itself may be at fault. The notes of `runtime status` still show it.
    }
  }
}
