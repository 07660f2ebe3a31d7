// Selects the log lines that are shown with the end of a worker.
const NATIVE_FRAME = /^ *\d+: (?:0x)?[0-9a-f]{6}/i;

/** Drops native stack frames, which would push out the line that says why Node aborted. */
export function* withoutFrames(lines: Iterable<string>): Generator<string> {
  for (const line of lines) if (!NATIVE_FRAME.test(line)) yield line;
}

export function* take(lines: Iterable<string>, count: number): Generator<string> {
  let left = count;
  if (left <= 0) return;
  for (const line of lines) {
    yield line;
    left -= 1;
    if (left === 0) return;
  }
}
