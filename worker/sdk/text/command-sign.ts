// Recognises the sign before a command. Pure.
//
//   COMMAND-SIGN-1  Unseen characters before and behind the sign do not count.
//   COMMAND-SIGN-2  The full-width form of a sign, as keyboards for Chinese and Japanese write it, is the sign.
import { trimUnseen } from './unseen-edges.ts';

const SIGN = /^[^\p{L}\p{N}\s]/u;

/**
 * True if a text may be a command, whatever the prefix (`commands.prefix`) is: an adapter does not know it. A prefix that begins with a letter or a
 * digit is not recognized.
 */
export const looksLikeCommand = (text: string): boolean => SIGN.test(trimUnseen(text));

/** The name of a typed command and the rest of its line. Undefined if the text does not begin with the prefix and a name. */
export function commandIn(text: string, prefix: string): { readonly name: string; readonly rest: string } | undefined {
  const line = trimUnseen(text);
  if (halfWidth(line.slice(0, prefix.length)) !== halfWidth(prefix)) return undefined;
  const [, word = '', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(line.slice(prefix.length)) ?? [];
  const name = halfWidth(trimUnseen(word));
  return name === '' ? undefined : { name, rest };
}

/** True for the host's own command that ends a dialog. It has a word in each language, which all people may write. */
export const isCancel = (name: string): boolean => /^(?:cancel|取消)$/i.test(name);

/** U+FF01 to U+FF5E are ASCII's `!` to `~` at twice the width. */
const halfWidth = (text: string): string =>
  text.replace(/[\uff01-\uff5e]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) - 0xfe_e0));
