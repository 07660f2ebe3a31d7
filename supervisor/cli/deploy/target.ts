// Type of a target of `svc deploy init`: what it asks for, the files that it writes, and the commands that follow.
import type { CommandOption } from '../command.ts';
import type { TemplateFile } from '../init/templates.ts';
import type { DeployProject } from './project.ts';

export interface DeployRequest {
  readonly project: DeployProject;
  /** Options of the command line by their camel-case names. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface DeployPlan {
  /** Paths are relative to the project. */
  readonly files: readonly TemplateFile[];
  /** Commands that follow, at most four. */
  readonly next: readonly string[];
  /** What the operator has to know and no file says. */
  readonly notes?: readonly string[];
}

export interface DeployTarget {
  readonly name: string;
  readonly summary: string;
  /** Names of the options that it takes besides those of all targets: `kind`, `host`. */
  readonly options: readonly string[];
  /** Throws SvcError `refused` with a remedy where the project cannot be run that way. */
  plan(request: DeployRequest): DeployPlan;
}

/** Options that only some targets take. */
export const TARGET_OPTIONS: readonly CommandOption[] = [
  { flags: '--kind <kind>', description: 'proxy: caddy, nginx or haproxy' },
  { flags: '--host <name>', description: 'proxy: the name under which people reach the bot' },
  { flags: '--node <path>', description: 'systemd: the Node of that machine (default: /usr/bin/node)' },
  { flags: '--instance <user>', description: 'systemd: a second instance, with an address of its own' },
  { flags: '--runbook <url>', description: 'monitoring: where your people read runbook.md (default: its path)' },
  { flags: '--port <port>', description: 'systemd: port of that instance' },
];
