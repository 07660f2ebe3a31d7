// Optional parts of the host, on `ctx` of a plugin that names them in `uses`. Their methods are effects too: decided on the state that this run
// sees, and committed with the run.
import type { Task } from './handle.ts';

/** Optional parts, by the name that `uses` takes. */
export interface Parts {
  readonly workroom: Workroom;
  readonly agents: Agents;
  readonly commands: Commands;
}

export interface Workroom {
  do(command: {
    readonly kind: string;
    readonly [field: string]: unknown;
  }): Promise<
    { readonly kind: 'accepted'; readonly item: string } | { readonly kind: 'refused'; readonly reason: string }
  >;
}

export interface Agents {
  /** Starts a run. Its result arrives as the task `then`. */
  start(binding: string, run: { readonly prompt: string; readonly then?: Task<{ runId: string; text: string }> }): void;
}

/** The commands of the generation that handles the item. */
export interface Commands {
  list(): readonly CommandHelp[];
}

/** A command in the help. */
export interface CommandHelp {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  /** The line to type, with the prefix: `/echo <text…>`. */
  readonly usage: string;
  /** Arguments with a description: `--in <duration>` and what it is. */
  readonly args: readonly { readonly usage: string; readonly description: string }[];
  /** Lines to type, with the prefix. */
  readonly examples: readonly string[];
  readonly slot: string;
  readonly who: 'anyone' | 'admin' | 'operator';
}
