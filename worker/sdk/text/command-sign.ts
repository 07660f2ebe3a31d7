const SIGN = /^[^\p{L}\p{N}\s]/u;

/**
 * Whether a text may be a command, whatever its sign is (`commands.prefix`, which an adapter does not know). A prefix that begins with a letter or a
 * digit is not seen.
 */
export const looksLikeCommand = (text: string): boolean => SIGN.test(text);
