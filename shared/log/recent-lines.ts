// The last lines of a log, kept for who asks over a socket: as bytes in one place, because texts that live on for a while make the heap grow.
const LINES_KEPT = 1_000;
const BYTES_KEPT = 256 * 1024;
const LINE_FEED = 10;
/** Of a unit of a text, at most. */
const UTF8_BYTES = 3;

export class RecentLines {
  /** Twice what is kept, so that it is seldom moved. */
  #bytes: Buffer | undefined;
  #end = 0;
  #written = 0;

  /** Whole lines, each with its line feed. */
  add(text: string | Buffer, lines: number): void {
    this.#written += lines;
    this.#bytes ??= Buffer.alloc(2 * BYTES_KEPT);
    const most = typeof text === 'string' ? UTF8_BYTES * text.length : text.length;
    if (most > BYTES_KEPT) return this.#keepEndOf(Buffer.from(text));
    if (this.#end + most > this.#bytes.length) this.#keepEndOf(this.#bytes.subarray(0, this.#end));
    this.#end += typeof text === 'string' ? this.#bytes.write(text, this.#end) : text.copy(this.#bytes, this.#end);
  }

  /** Those from number `after` on, oldest first; `next` is the number to go on from. */
  since(after: number): { readonly lines: readonly string[]; readonly next: number } {
    const lines = (this.#bytes?.toString('utf8', 0, this.#end) ?? '').split('\n').slice(0, -1);
    const first = this.#written - lines.length;
    return { lines: lines.slice(Math.max(0, after - first)).slice(-LINES_KEPT), next: this.#written };
  }

  /** Whole lines, and nothing else. */
  #keepEndOf(bytes: Buffer): void {
    const tooMuch = bytes.length - BYTES_KEPT;
    const from = tooMuch > 0 ? bytes.indexOf(LINE_FEED, tooMuch - 1) + 1 : 0;
    this.#end = this.#bytes === undefined ? 0 : bytes.copy(this.#bytes, 0, from);
  }
}
