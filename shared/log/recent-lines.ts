// The last lines of a log, kept for readers on a socket. They are stored as bytes in one buffer, because long-lived strings would grow the heap.
const LINES_KEPT = 1_000;
const BYTES_KEPT = 256 * 1024;
const LINE_FEED = 10;
/** Most bytes that one UTF-16 code unit takes in UTF-8. */
const UTF8_BYTES = 3;

export class RecentLines {
  /** Twice the size that is kept, so that it is rarely moved. */
  #bytes: Buffer | undefined;
  #end = 0;
  #written = 0;

  /** Takes whole lines, each with its line feed. */
  add(text: string | Buffer, lines: number): void {
    this.#written += lines;
    this.#bytes ??= Buffer.alloc(2 * BYTES_KEPT);
    const most = typeof text === 'string' ? UTF8_BYTES * text.length : text.length;
    if (most > BYTES_KEPT) return this.#keepEndOf(Buffer.from(text));
    if (this.#end + most > this.#bytes.length) this.#keepEndOf(this.#bytes.subarray(0, this.#end));
    this.#end += typeof text === 'string' ? this.#bytes.write(text, this.#end) : text.copy(this.#bytes, this.#end);
  }

  /** The lines from number `after` on, oldest first. `next` is the number to continue from. */
  since(after: number): { readonly lines: readonly string[]; readonly next: number } {
    const lines = (this.#bytes?.toString('utf8', 0, this.#end) ?? '').split('\n').slice(0, -1);
    const first = this.#written - lines.length;
    return { lines: lines.slice(Math.max(0, after - first)).slice(-LINES_KEPT), next: this.#written };
  }

  /** Keeps whole lines only. */
  #keepEndOf(bytes: Buffer): void {
    const tooMuch = bytes.length - BYTES_KEPT;
    const from = tooMuch > 0 ? bytes.indexOf(LINE_FEED, tooMuch - 1) + 1 : 0;
    this.#end = this.#bytes === undefined ? 0 : bytes.copy(this.#bytes, 0, from);
  }
}
