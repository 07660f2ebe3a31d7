// Parses an event stream into frames, as the HTML standard defines. Pure except for the state between two chunks.
//
//   CONSOLE-SSE-1  A line ends with LF, CR or CR LF, even if a chunk ends between CR and LF. An empty line ends a frame.
//                  An incomplete frame at the end is dropped.
//   CONSOLE-SSE-2  `id` stays in force for later frames, and an id with NUL is ignored. `retry` must consist of digits.

export interface Frame {
  readonly event: string;
  readonly data: string;
  /** The last id of this frame or an earlier one. */
  readonly id: string | undefined;
}
export interface Parsed {
  readonly frames: readonly Frame[];
  /** The last `retry` in this chunk, ms. */
  readonly retryMs: number | undefined;
}

/** Parses the chunks of one connection. */
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

  /** Processes one line. Returns the value of a `retry` line. */
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
