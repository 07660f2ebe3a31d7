// The name of a lane (or of another ordered queue): its parts, percent-encoded and joined by slashes.

/** A lone surrogate has no UTF-8 form. `toWellFormed` replaces it with U+FFFD, as the database does. */
export const laneName = (...parts: readonly string[]): string =>
  parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
