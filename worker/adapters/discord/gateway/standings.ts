// State of each connection of an account. The account goes online when no connection is opening any more and at least one is up. Lost ones are
// reported as trouble.
import type { Troubles } from './troubles.ts';

type Standing = 'opening' | 'up' | { readonly reason: string };

export class Standings {
  readonly #all: Standing[];
  readonly #troubles: Troubles;
  readonly #online: () => void;
  #isOnline = false;

  constructor(count: number, { troubles, online }: { readonly troubles: Troubles; readonly online: () => void }) {
    this.#all = Array.from({ length: count }, () => 'opening');
    this.#troubles = troubles;
    this.#online = online;
  }

  get isOnline(): boolean {
    return this.#isOnline;
  }

  isUp(index: number): boolean {
    return this.#all[index] === 'up';
  }

  up(index: number): void {
    this.#all[index] = 'up';
    this.#tell();
  }

  /** False if no connection is up or opening any more. */
  down(index: number, reason: string): boolean {
    this.#all[index] = { reason };
    if (this.#all.every((one) => typeof one === 'object')) return false;
    this.#tell();
    return true;
  }

  #tell(): void {
    if (this.#all.includes('opening')) return;
    if (!this.#isOnline) {
      this.#isOnline = true;
      this.#online();
    }
    const count = this.#all.length;
    const lost = this.#all.flatMap((one, index) =>
      typeof one === 'string' ? [] : [`connection ${index + 1} of ${count}: ${one.reason}`],
    );
    const text = `nothing is heard from a part of the servers: ${lost.join('; ')}`;
    this.#troubles.tell('connections', lost.length === 0 ? undefined : text);
  }
}
