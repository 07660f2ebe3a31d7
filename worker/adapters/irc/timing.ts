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
}
export const TIMING: SessionTiming = {
  registerMs: 30_000,
  confirmMs: 30_000,
  regainMs: 30_000,
  rejoinMs: 10_000,
  identifyMs: 10_000,
  historyMs: 30_000,
};
