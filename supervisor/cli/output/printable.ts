// Foreign text on a terminal: what could move the cursor, change colours or hide other text is shown, not obeyed.
import { escapeControls, escapeUnseen } from '../../../shared/log/visible-text.ts';

/** The text with line breaks and tabs as they are and every other character that is not seen as `\u001b`. */
export const printable = (text: string): string => escapeControls(text, '\n\t');

/** A value in one line: text as it is, the rest as JSON. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return '-';
  return printable(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\n', '\\n');
}

/** A line that a command has made, with the colours that it has put there itself. */
export const printableLine = (line: string): string =>
  line
    .split(COLOR)
    .map((part, index) => (index % 2 === 1 ? part : printable(part)))
    .join('');

/** JSON for a terminal, of the same value. */
export const printableJson = (json: string): string => escapeUnseen(json);

/** Green, red, yellow, dim, bold, and the end of each. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape of a colour
const COLOR = /(\u001b\[(?:1|2|22|31|32|33|39)m)/;
