// What `svc doctor --endpoint` tells of an account: between the worker's code, which asks, and the command, which prints.

export interface CheckedAccount {
  /** `<owner>:<name>`. */
  readonly endpoint: string;
  readonly name: string;
  readonly adapter: string;
  /** As the configuration says: one that is switched off can be checked all the same. */
  readonly enabled: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly status: 'ok' | 'warn' | 'error' | 'skip';
    readonly detail: string;
    readonly remedy?: string;
  }[];
}
