// How long a session of IRC waits; tests shorten it.
export interface SessionTiming {
  /** From opening the socket to the server's welcome. */
  readonly registerMs: number;
  readonly confirmMs: number;
  /** Between tries to get the wanted nick back. */
  readonly regainMs: number;
  /** Before coming back to a channel after a kick. */
  readonly rejoinMs: number;
  /** For the answer of the service that the account logs in with; without one it goes on. */
  readonly identifyMs: number;
  /** For one answer about what was said while the account was away. */
  readonly historyMs: number;
  /** Between two pings. */
  readonly pingMs: number;
  /** A connection on which nothing was heard for so long, not even the answer to a ping, is lost. */
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
