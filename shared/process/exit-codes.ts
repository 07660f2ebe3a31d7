// The exit codes. Every process of svc exits with one of these.

/** Code uses the names; operators and supervisors see the numbers. */
export const EXIT = {
  /** Done; stopped on request; for `status`: up and ready. */
  ok: 0,
  /** Failed or refused; for `status`: alive but not ready. */
  failed: 1,
  /** Wrong usage of the command line. */
  usage: 2,
  /** For `status`: no host runs, or none is installed. */
  absent: 3,
  /** Worker: the Console or the CLI requested a restart. The worker drained first. */
  restartRequested: 51,
  /** Worker: the runtime itself needs a restart. The worker drained first. */
  restartRequired: 75,
  /** Invalid configuration or secrets: a restart cannot help. */
  config: 78,
  /** Second SIGINT on a terminal: forced stop. */
  forced: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
