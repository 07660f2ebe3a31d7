// Hands this supervisor over to its successor. One successor at a time, and none in a state where it could wait forever.
import type { SendHandle } from 'node:child_process';
import type { SupervisorSettings } from '../../shared/api/ipc.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { HandedOver } from '../log/history.ts';
import type { State } from '../machine/machine.ts';
import { isOnItsWay } from '../machine/requests.ts';
import type { InstanceLock } from './instance-lock.ts';
import { Successor, type SuccessorSpec } from './succession.ts';

/** The successor's program, and settings of the configuration that have changed. */
export interface SuccessorProgram extends Pick<SuccessorSpec, 'program' | 'args'> {
  readonly settings: Partial<SupervisorSettings>;
}

export class Handover {
  readonly #lock: InstanceLock;
  #isBusy = false;
  #successor: Successor | undefined;

  constructor(lock: InstanceLock) {
    this.#lock = lock;
  }

  /** Starts the successor and returns its pid. If it throws, nothing has changed. */
  async prepare(spec: SuccessorSpec, state: () => State): Promise<number> {
    if (this.#isBusy)
      throw new SvcError('refused', 'the supervisor is being replaced already', {
        hint: '`svc runtime status` shows the new one once it is there',
      });
    refuseOnItsWay(state());
    this.#isBusy = true;
    try {
      this.#successor = await Successor.start(spec, this.#lock);
      refuseOnItsWay(state()); // a stop or restart came in between and would leave the successor waiting
      return this.#successor.pid;
    } catch (error) {
      this.giveUp();
      throw error;
    }
  }

  /** Throws unless the successor has taken everything. */
  async perform(estate: HandedOver, socket: SendHandle | undefined): Promise<void> {
    if (this.#successor === undefined) throw new SvcError('refused', 'there is no successor');
    await this.#successor.handOver(estate, { lock: this.#lock, ...(socket === undefined ? {} : { socket }) });
  }

  go(): void {
    this.#successor?.go();
  }

  giveUp(): void {
    this.#successor?.giveUp();
    this.#successor = undefined;
    this.#isBusy = false;
  }
}

function refuseOnItsWay(state: State): void {
  if (isOnItsWay(state))
    throw new SvcError('refused', `the supervisor cannot be replaced while it is ${state.kind}`, {
      hint: 'try again when that is over',
    });
}
