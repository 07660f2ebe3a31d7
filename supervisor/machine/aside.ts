// What the supervisor does beside its decisions: log, record, history, sockets, spare, report, trace. A fault there is noted and ends there.
//
//   N1  Nothing that runs here throws: no fault stands between an event and its transition, or between a timer and its next look.
//   N2  A fault is told once, and stays in the notes of `runtime status` until the same work has succeeded.
import { messageOf } from '../../shared/svc-error.ts';

export type TellFault = (what: string, reason: string) => void;

export class Asides {
  readonly #tell: TellFault;
  readonly #faults = new Map<string, string>();

  constructor(tell: TellFault) {
    this.#tell = tell;
  }

  /** One line for each fault that lasts. */
  get notes(): readonly string[] {
    return [...this.#faults].map(([what, reason]) => `the supervisor could not ${what}: ${reason}`);
  }

  /** Its result; undefined where it threw. `what` continues "could not …". */
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

  /** The same for work that ends later: the promise never rejects. */
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
      // The log itself is at fault: the notes of the status have it
    }
  }
}
