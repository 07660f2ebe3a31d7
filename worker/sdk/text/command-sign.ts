const SIGN = /^[^\p{L}\p{N}\s]/u;

/**
 * True if a text may be a command, whatever the prefix (`commands.prefix`) is: an adapter does not know it. A prefix that begins with a letter or a
 * digit is not recognized.
 */
export const looksLikeCommand = (text: string): boolean => SIGN.test(text);
