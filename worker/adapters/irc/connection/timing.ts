// Times of an IRC session in ms. Tests shorten them.
export interface SessionTiming {
  /** From the opening of the socket to the server's welcome. */
  readonly registerMs: number;
  readonly confirmMs: number;
  /** Between attempts to regain the wanted nick. */
  readonly regainMs: number;
  /** Before a channel is joined again after a kick. */
  readonly rejoinMs: number;
  /** Time limit for the answer of the login service. Without an answer the session continues. */
  readonly identifyMs: number;
  /** Time limit for one answer from the server's message history. */
  readonly historyMs: number;
  /** Between two pings. */
  readonly pingMs: number;
  /** A connection without any line for this time is lost. The answer to a ping counts as a line. */
  readonly silentMs: number;
}
export const TIMING: SessionTiming = {
  registerMs: 30_000,
  confirmMs: 30_000,
  regainMs: 30_000,
  rejoinMs: 10_000,
  identifyMs: 10_000,
  historyMs: 30_000,
  pingMs: 30_000,
  silentMs: 60_000,
};
