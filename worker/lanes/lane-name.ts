// The name of a lane, or of another place in the order of things: its parts, of whatever characters, told apart by slashes.

/** Half a character has no bytes of its own, and stands as the replacement character, as it does where it is stored. */
export const laneName = (...parts: readonly string[]): string =>
  parts.map((part) => encodeURIComponent(part.toWellFormed())).join('/');
