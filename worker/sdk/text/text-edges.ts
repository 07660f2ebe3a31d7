// Splits off blanks at the edges of a text in linear time. A pattern such as `/\s+$/` would scan a run of blanks again from each of its characters.

export interface Edges {
  readonly before: string;
  readonly inner: string;
  readonly after: string;
}

/** The text in three parts. `inner` neither begins nor ends with a blank. */
export function edgesOf(text: string): Edges {
  const inner = text.trim();
  const start = text.length - text.trimStart().length;
  return { before: text.slice(0, start), inner, after: text.slice(start + inner.length) };
}
