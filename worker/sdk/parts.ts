// Optional parts of the host, on `ctx` of a plugin that names them in `uses`. What they do are effects too: decided on the state
// that this run sees, committed with it.
import type { Task } from './handle.ts';

/** By the name under which a plugin asks for them. */
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
  /** The result comes as a task. */
  start(binding: string, run: { readonly prompt: string; readonly then?: Task<{ runId: string; text: string }> }): void;
}

/** The commands of the generation that handles the item. */
export interface Commands {
  list(): readonly CommandHelp[];
}

/** A command as help shows it. */
export interface CommandHelp {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  /** With the prefix, as one types it: `/echo <text…>`. */
  readonly usage: string;
  readonly slot: string;
  readonly who: 'anyone' | 'admin' | 'operator';
}
