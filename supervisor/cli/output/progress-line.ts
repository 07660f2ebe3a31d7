// One line on stderr that is written over as work goes on. Silent where stderr is no terminal.
export interface ProgressLine {
  show(text: string): void;
  /** Clears the line, for what is printed next. */
  end(): void;
}

export function progressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  let isShown = false;
  return {
    show(text) {
      if (!stream.isTTY) return;
      isShown = true;
      stream.write(`\r\u001b[2K${text.slice(0, Math.max(20, stream.columns - 1))}`);
    },
    end() {
      if (isShown) stream.write('\r\u001b[2K');
      isShown = false;
    },
  };
}
