// The supervisor's memory: since when its state holds, how its workers ended, and the record of both on disk.
import type { ExitRecord } from '../../shared/api/control.ts';
import type { PreviousEnd, SupervisorSettings } from '../../shared/api/ipc.ts';
import type { StateWatch } from '../../shared/files/state-watch.ts';
import type { Address } from '../../shared/process/bound-socket.ts';
import { identify, type ProcessIdentity } from '../../shared/process/process-identity.ts';
import { hasRun, type Machine } from '../machine/machine.ts';
import type { RestartWindow } from '../machine/restart-window.ts';
import { endOf, type Former, type RecordPaths, takeOver, writeRecord } from './record.ts';

/** State that a supervisor passes to its successor. */
export interface HandedOver {
  readonly window: RestartWindow;
  readonly run: number;
  readonly exits: readonly ExitRecord[];
  readonly previous: PreviousEnd;
  readonly settings: SupervisorSettings;
  readonly secrets: Readonly<Record<string, string>>;
  /** Address of the socket that comes with the message. */
  readonly held: Address | null;
}

const EXITS_KEPT = 10;

export class History {
  readonly #paths: RecordPaths;
  readonly #folder: Pick<StateWatch, 'isThere'>;
  #since = new Date().toISOString();
  #exits: readonly ExitRecord[] = [];
  #previous: PreviousEnd = { end: 'first', code: null, signal: null, detail: null };
  #former: Former | null = null;
  #fault: string | undefined;
  #isOurs = true;

  /** `folder`: the state folder of the files. */
  constructor(paths: RecordPaths, folder: Pick<StateWatch, 'isThere'>) {
    this.#paths = paths;
    this.#folder = folder;
  }

  get since(): string {
    return this.#since;
  }
  get exits(): readonly ExitRecord[] {
    return this.#exits;
  }
  /** How the last worker ended, told to the next one. */
  get previous(): PreviousEnd {
    return this.#previous;
  }
  get notes(): readonly string[] {
    return this.#fault === undefined ? [] : [`the record could not be written: ${this.#fault}`];
  }

  /** Loads the record of a former supervisor. Returns its restart window, and why its files could not be used. */
  takeOver(): { readonly window: RestartWindow; readonly fault: string | undefined } {
    const { fault, exits, previous, window, former } = takeOver(this.#paths);
    this.#exits = exits;
    this.#previous = previous;
    this.#former = former;
    return { window, fault };
  }

  /** Like `takeOver`, but from a live supervisor that hands over. */
  inherit({ exits, previous }: Pick<HandedOver, 'exits' | 'previous'>): void {
    this.#exits = exits;
    this.#previous = previous;
  }

  /** From now on the files belong to another supervisor and are not written. */
  leave(): void {
    this.#isOurs = false;
  }

  /** A former supervisor and its worker, which may still be alive. Returned once. */
  takeFormer(): Former | null {
    const former = this.#former;
    this.#former = null;
    return former;
  }

  entered(): void {
    this.#since = new Date().toISOString();
  }

  ended(record: ExitRecord): void {
    this.#exits = [...this.#exits, record].slice(-EXITS_KEPT);
    this.#previous = endOf(record);
  }

  write({ state, window, limits }: Machine, worker: ProcessIdentity | null): void {
    const supervisor = identify(process.pid);
    if (supervisor === undefined || !this.#isOurs || !this.#folder.isThere()) return;
    const record = { since: this.#since, supervisor, worker: hasRun(state) ? worker : null, exits: this.#exits };
    this.#fault = writeRecord(this.#paths, { version: 1, state: state.kind, stopMs: limits.stopMs, ...record }, window);
  }
}
