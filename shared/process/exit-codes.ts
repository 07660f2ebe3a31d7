// The exit codes. Every process of svc ends with one of these and nothing else decides them.

/** What each exit code means; the names are used in code, the numbers are what operators and supervisors see. */
export const EXIT = {
  /** Done; stopped on request; status: up and ready. */
  ok: 0,
  /** Failed or refused; status: alive but not ready. */
  failed: 1,
  /** Wrong usage of the command line. */
  usage: 2,
  /** Status: nothing there, not installed. */
  absent: 3,
  /** Worker: the Console or the CLI asked for a restart; drained first. */
  restartRequested: 51,
  /** Worker: the runtime itself needs a restart; drained first. */
  restartRequired: 75,
  /** Configuration or secrets invalid: a restart cannot help. */
  config: 78,
  /** Second SIGINT on a terminal: forced stop. */
  forced: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
