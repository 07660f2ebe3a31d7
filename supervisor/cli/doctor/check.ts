// What a check of `svc doctor` is: a stable id, and an answer with its reason and the command that mends it.
import type { LoadedConfig } from '../../../shared/config/load.ts';
import type { ProjectPaths } from '../../../shared/files/paths.ts';

export type CheckStatus = 'ok' | 'warn' | 'error' | 'skip';

export interface Finding {
  readonly status: CheckStatus;
  readonly reason: string;
  /** What to do, as a command where one does it. */
  readonly fix?: string;
  /** Does that, where it is safe: nothing is lost and nobody is locked out. */
  readonly repair?: () => void;
}

export interface Check {
  /** Stable: scripts name it. */
  readonly id: string;
  readonly title: string;
  run(subject: Subject): Finding | Promise<Finding>;
}

/** What the checks look at; read once. */
export interface Subject {
  readonly paths: ProjectPaths;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The configuration as production would see it, or the error with which it is refused. */
  readonly config: LoadedConfig | { readonly fault: string };
  /** package.json; undefined where it is missing or not JSON. */
  readonly manifest: Readonly<Record<string, unknown>> | undefined;
  readonly node: string;
  /** With --edge alone. */
  readonly edge?: Edge;
}

/** The address at which a proxy answers for the host. */
export interface Edge {
  readonly url: string;
  /** Empty where none is known. */
  readonly token: string;
  /** Whether a token may go there. */
  readonly maySend: boolean;
}

export const ok = (reason: string): Finding => ({ status: 'ok', reason });
export const skip = (reason: string): Finding => ({ status: 'skip', reason });
export const warn = (reason: string, fix: string): Finding => ({ status: 'warn', reason, fix });
export const fault = (reason: string, fix: string): Finding => ({ status: 'error', reason, fix });

/** Runs a check that needs a good configuration. */
export const withConfig =
  (run: (loaded: LoadedConfig, subject: Subject) => Finding | Promise<Finding>): Check['run'] =>
  (subject) =>
    'fault' in subject.config ? skip('the configuration is invalid') : run(subject.config, subject);

/** The same finding, with what `--fix` does about it. */
export const repairable = (finding: Finding, repair: () => void): Finding => ({ ...finding, repair });
