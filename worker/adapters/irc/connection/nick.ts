// Chooses a nick while the wanted one is in use. Pure.

/** Further tries after the configured alternates. */
export const MORE_NICKS = 10;
/** No server allows a longer nick. */
const LONGEST = 64;

export interface NickChoice {
  readonly nick: string;
  readonly alternateNicks: readonly string[];
}

/** The nick for the n-th retry: the alternates in order, then the wanted nick with underscores, then with numbers. */
export function nickForTry({ nick, alternateNicks }: NickChoice, tried: number, limit: number): string {
  const alternate = alternateNicks[tried - 1];
  if (alternate !== undefined) return alternate;
  const extra = tried - alternateNicks.length;
  const tail = extra <= 3 ? '_'.repeat(extra) : String(extra);
  return `${nick.slice(0, Math.max(1, limit - tail.length))}${tail}`;
}

/** Every nick that the account may use. Lines under any of them are the bot's own. */
export const ownNicks = (of: NickChoice): readonly string[] => [
  of.nick,
  ...Array.from({ length: of.alternateNicks.length + MORE_NICKS }, (_, i) => nickForTry(of, i + 1, LONGEST)),
];
