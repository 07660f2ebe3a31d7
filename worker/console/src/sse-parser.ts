// The text of an event stream → frames, as the HTML standard reads it. Pure but for what it keeps between two chunks.
//
//   P1  Lines end in LF, CR or CR LF, also when a chunk ends between the two. A frame ends at an empty line; one cut off is dropped.
//   P2  `id` stays in force for later frames; one with NUL is ignored. `retry` takes digits alone.

export interface Frame {
  readonly event: string;
  readonly data: string;
  /** The last id that was given, by this frame or an earlier one. */
  readonly id: string | undefined;
}
export interface Parsed {
  readonly frames: readonly Frame[];
  /** The last `retry` in this chunk, milliseconds. */
  readonly retryMs: number | undefined;
}

/** Reads chunk after chunk of one connection. */
export class SseParser {
  #rest = '';
  #event = '';
  #data: string[] = [];
  #id: string | undefined;
  #endedInCr = false;

  push(chunk: string): Parsed {
    const text = this.#endedInCr && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') this.#endedInCr = chunk.endsWith('\r');
    const lines = (this.#rest + text).split(/\r\n|\n|\r/);
    this.#rest = lines.pop() ?? '';
    const frames: Frame[] = [];
    let retryMs: number | undefined;
    for (const line of lines) {
      if (line === '') frames.push(...this.#dispatch());
      else retryMs = this.#field(line) ?? retryMs;
    }
    return { frames, retryMs };
  }

  /** Takes in one line; a retry is given back. */
  #field(line: string): number | undefined {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? [];
    if (name === 'event') this.#event = value;
    else if (name === 'data') this.#data.push(value);
    else if (name === 'id' && !value.includes('\u0000')) this.#id = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) return Number(value);
    return undefined;
  }

  #dispatch(): readonly Frame[] {
    const frame = { event: this.#event === '' ? 'message' : this.#event, data: this.#data.join('\n'), id: this.#id };
    const isEmpty = this.#data.length === 0;
    this.#event = '';
    this.#data = [];
    return isEmpty ? [] : [frame];
  }
}
