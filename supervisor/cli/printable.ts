// Foreign text on a terminal: what could move the cursor, change colours or hide other text is shown, not obeyed.

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The text with line breaks and tabs as they are and every other control character as `\u001b`. */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A value in one line: text as it is, the rest as JSON. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return printable(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\n', '\\n');
}
