// How many bytes of bodies are in memory, of all requests under way and of one client's: nobody is known yet while a body comes in, and a
// webhook takes up to 25 MiB of anybody. What is small is free: connections are bounded, too.
import { clientOf } from '../../shared/ip-address.ts';

export const FREE_BYTES = 64 * 1024;
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_OF_ONE = 64 * 1024 * 1024;

export class HeldBodies {
  readonly #clients = new Map<string, number>();
  #bytes = 0;

  /** Whether so many more would be too many. */
  isFullFor(address: string, bytes: number): boolean {
    const own = this.#clients.get(clientOf(address)) ?? 0;
    return this.#bytes + bytes > MOST_BYTES || own + bytes > MOST_OF_ONE;
  }

  /** For one body; false where it may not have so many more. */
  open(address: string): { take(bytes: number): boolean; close(): void } {
    const client = clientOf(address);
    let taken = 0;
    return {
      take: (bytes) => {
        if (this.isFullFor(address, bytes)) return false;
        taken += bytes;
        this.#count(client, bytes);
        return true;
      },
      close: () => this.#count(client, -taken),
    };
  }

  #count(client: string, bytes: number): void {
    this.#bytes += bytes;
    const own = (this.#clients.get(client) ?? 0) + bytes;
    if (own === 0) this.#clients.delete(client);
    else this.#clients.set(client, own);
  }
}
