// Answer of `svc doctor --endpoint` about one account. The worker's code makes it and the command prints it.

export interface CheckedAccount {
  /** `<owner>:<name>`. */
  readonly endpoint: string;
  readonly name: string;
  readonly adapter: string;
  /** The configured value. A disabled account can be checked, too. */
  readonly enabled: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly status: 'ok' | 'warn' | 'error' | 'skip';
    readonly detail: string;
    readonly remedy?: string;
  }[];
}
