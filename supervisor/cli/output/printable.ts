// Escapes foreign text for a terminal: characters that move the cursor, change colours or hide text become visible.
import { escapeControls, escapeUnseen } from '../../../shared/log/visible-text.ts';

/** Keeps line breaks and tabs. Every other invisible character is written like `\u001b`. */
export const printable = (text: string): string => escapeControls(text, '\n\t');

/** A value in one line: text as it is, other values as JSON. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return printable(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\n', '\\n');
}

/** A line made by a command, which keeps the colours that the command added. */
export const printableLine = (line: string): string =>
  line
    .split(COLOR)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join('');

/** JSON for a terminal, with the same value. */
export const printableJson = (json: string): string => escapeUnseen(json);

/** Green, red, yellow, dim, bold, and the end of each. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape of a colour
const COLOR = /(\u001b\[(?:1|2|22|31|32|33|39)m)/;
