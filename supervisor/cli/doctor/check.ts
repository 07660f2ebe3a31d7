// A check of `svc doctor`: a stable id, and a finding with its reason and the command that fixes it.
import type { LoadedConfig } from '../../../shared/config/load.ts';
import type { ProjectPaths } from '../../../shared/files/paths.ts';

export type CheckStatus = 'ok' | 'warn' | 'error' | 'skip';

export interface Finding {
  readonly status: CheckStatus;
  readonly reason: string;
  /** Advice, as a command if one suffices. */
  readonly fix?: string;
  /** Applies the fix. Only set if the fix is safe: no data is lost and no user is locked out. */
  readonly repair?: () => void;
}

export interface Check {
  /** Stable, because scripts refer to it. */
  readonly id: string;
  readonly title: string;
  run(subject: Subject): Finding | Promise<Finding>;
}

/** Data for all checks, read once. */
export interface Subject {
  readonly paths: ProjectPaths;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The configuration for production, or the error that rejects it. */
  readonly config: LoadedConfig | { readonly fault: string };
  /** package.json. Undefined if it is missing or no JSON. */
  readonly manifest: Readonly<Record<string, unknown>> | undefined;
  readonly node: string;
  /** Only with --edge. */
  readonly edge?: Edge;
}

/** The address at which a proxy answers for the host. */
export interface Edge {
  readonly url: string;
  /** Empty if none is known. */
  readonly token: string;
  /** Whether a token may be sent there. */
  readonly maySend: boolean;
  /** How long a stream is watched that has no events. Only with --idle. */
  readonly idleSeconds?: number;
}

export const ok = (reason: string): Finding => ({ status: 'ok', reason });
export const skip = (reason: string): Finding => ({ status: 'skip', reason });
export const warn = (reason: string, fix: string): Finding => ({ status: 'warn', reason, fix });
export const fault = (reason: string, fix: string): Finding => ({ status: 'error', reason, fix });

/** Runs a check that needs a valid configuration. */
export const withConfig =
  (run: (loaded: LoadedConfig, subject: Subject) => Finding | Promise<Finding>): Check['run'] =>
  (subject) =>
    'fault' in subject.config ? skip('the configuration is invalid') : run(subject.config, subject);

/** Adds the repair that `--fix` runs. */
export const repairable = (finding: Finding, repair: () => void): Finding => ({ ...finding, repair });
