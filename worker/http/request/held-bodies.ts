// Bounds bodies that arrive in pieces: their number and their bytes in memory, in all and per client. A caller is not authenticated while a
// webhook body arrives, and it may have up to 25 MiB.
//
//   BODY-1  At most 1,024 bodies are being received. Another body ends the oldest, since an honest body finishes long before.
//   BODY-2  When bytes run short, slow bodies (less than 5 KiB in the last 5 s) are ended first, the oldest first. If that is not enough,
//           the new body is refused. A body of at most 64 KiB is never refused.
import { clientOf } from '../../../shared/ip-address.ts';

export const FREE_BYTES = 64 * 1024;
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_OF_ONE = 64 * 1024 * 1024;
const MOST_BODIES = 1_024;
const PACE_BYTES = 5 * 1024;
const PACE_MS = 5_000;

export interface HeldBody {
  /** Reserves bytes for the body. False if there is no room, and once the body is closed. */
  take(bytes: number): boolean;
  /** The body is complete and no longer makes room for others. */
  whole(): void;
  /** Releases the body's bytes. */
  close(): void;
}

interface Coming {
  readonly client: string;
  /** Ends this body to make room for another. */
  readonly end: () => void;
  bytes: number;
  recent: number;
  pacedAt: number;
}

export class HeldBodies {
  readonly #clients = new Map<string, number>();
  /** In order of their start. */
  readonly #coming = new Set<Coming>();
  readonly #now: () => number;
  #bytes = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** True if that many more bytes have no room, even after slow bodies were ended. */
  isFullFor(address: string, bytes: number): boolean {
    return !this.#hasRoom(clientOf(address), bytes);
  }

  /** `end` is called if this body must make room for another, never after `whole`. */
  open(address: string, end: () => void): HeldBody {
    const coming: Coming = { client: clientOf(address), end, bytes: 0, recent: 0, pacedAt: this.#now() };
    this.#coming.add(coming);
    if (this.#coming.size > MOST_BODIES) this.#endFirst(() => true); // too many at once: the oldest ends
    let isClosed = false;
    return {
      take: (bytes) => {
        if (isClosed) return false; // nobody would release them
        if (coming.bytes + bytes > FREE_BYTES && !this.#hasRoom(coming.client, bytes)) return false;
        coming.bytes += bytes;
        this.#keepPace(coming, bytes);
        this.#count(coming.client, bytes);
        return true;
      },
      whole: () => void this.#coming.delete(coming),
      close: () => {
        isClosed = true;
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

  /** Ends slow bodies until the bytes have room. */
  #hasRoom(client: string, bytes: number): boolean {
    const lacks = (): boolean => this.#bytes + bytes > MOST_BYTES;
    const lacksOwn = (): boolean => (this.#clients.get(client) ?? 0) + bytes > MOST_OF_ONE;
    const isSlow = ({ pacedAt }: Coming): boolean => this.#now() - pacedAt > PACE_MS;
    while (lacksOwn() && this.#endFirst((coming) => isSlow(coming) && coming.client === client));
    while (lacks() && this.#endFirst(isSlow));
    return !lacks() && !lacksOwn();
  }

  /** Ends the oldest matching body and stops counting its bytes. False if none matches. */
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
