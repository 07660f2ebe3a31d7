// Bodies that come in pieces: their number, and how many bytes of them are in memory, in all and of one client. Nobody is known yet while a body
// comes in, and a webhook takes up to 25 MiB of anybody.
//
//   Y1  At most 1,024 are under way. One more ends the oldest: a body that is sent in earnest is over long before.
//   Y2  Where bytes have no room, bodies that are slow make room first: those that brought less than 5 KiB in their last 5 s, the oldest first.
//       Else the new one is refused. A body of at most 64 KiB is never refused.
import { clientOf } from '../../../shared/ip-address.ts';

export const FREE_BYTES = 64 * 1024;
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_OF_ONE = 64 * 1024 * 1024;
const MOST_BODIES = 1_024;
const PACE_BYTES = 5 * 1024;
const PACE_MS = 5_000;

export interface HeldBody {
  /** It grows; false where it may not. */
  take(bytes: number): boolean;
  /** It is whole, and no longer makes room for others. */
  whole(): void;
  /** Nobody has it any more. */
  close(): void;
}

interface Coming {
  readonly client: string;
  /** Ends it for another. */
  readonly end: () => void;
  bytes: number;
  recent: number;
  pacedAt: number;
}

export class HeldBodies {
  readonly #clients = new Map<string, number>();
  /** In the order in which they began. */
  readonly #coming = new Set<Coming>();
  readonly #now: () => number;
  #bytes = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether so many more would be too many, after the slow ones have made room. */
  isFullFor(address: string, bytes: number): boolean {
    return !this.#hasRoom(clientOf(address), bytes);
  }

  /** `end`: it has to make room; not called once it is whole. */
  open(address: string, end: () => void): HeldBody {
    const coming: Coming = { client: clientOf(address), end, bytes: 0, recent: 0, pacedAt: this.#now() };
    this.#coming.add(coming);
    if (this.#coming.size > MOST_BODIES) this.#endFirst(() => true); // Y1
    return {
      take: (bytes) => {
        if (coming.bytes + bytes > FREE_BYTES && !this.#hasRoom(coming.client, bytes)) return false;
        coming.bytes += bytes;
        this.#keepPace(coming, bytes);
        this.#count(coming.client, bytes);
        return true;
      },
      whole: () => void this.#coming.delete(coming),
      close: () => {
        this.#coming.delete(coming);
        this.#count(coming.client, -coming.bytes);
        coming.bytes = 0;
      },
    };
  }

  #keepPace(coming: Coming, bytes: number): void {
    coming.recent += bytes;
    if (coming.recent < PACE_BYTES) return;
    coming.recent = 0;
    coming.pacedAt = this.#now();
  }

  /** Y2. */
  #hasRoom(client: string, bytes: number): boolean {
    const lacks = (): boolean => this.#bytes + bytes > MOST_BYTES;
    const lacksOwn = (): boolean => (this.#clients.get(client) ?? 0) + bytes > MOST_OF_ONE;
    const isSlow = ({ pacedAt }: Coming): boolean => this.#now() - pacedAt > PACE_MS;
    while (lacksOwn() && this.#endFirst((coming) => isSlow(coming) && coming.client === client));
    while (lacks() && this.#endFirst(isSlow));
    return !lacks() && !lacksOwn();
  }

  /** False where there is none. Its bytes count no more: they are let go of at once. */
  #endFirst(is: (coming: Coming) => boolean): boolean {
    for (const coming of this.#coming) {
      if (!is(coming)) continue;
      this.#coming.delete(coming);
      this.#count(coming.client, -coming.bytes);
      coming.bytes = 0;
      coming.end();
      return true;
    }
    return false;
  }

  #count(client: string, bytes: number): void {
    this.#bytes += bytes;
    const own = (this.#clients.get(client) ?? 0) + bytes;
    if (own === 0) this.#clients.delete(client);
    else this.#clients.set(client, own);
  }
}
