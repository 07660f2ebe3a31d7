// What handling sees of a generation: its capabilities and how long they may run.
import type { Can, FileRef, User } from '../../sdk/index.ts';
import type { Capabilities } from './capabilities.ts';

export interface GenerationView {
  readonly number: number;
  readonly capabilities: Capabilities;
  /** Aborts when the generation is retired and its last handler has ended, or its time is up. */
  readonly signal: AbortSignal;
  /** Optional parts of the host by name, put on the context of plugins that ask for them. */
  readonly parts: Readonly<Record<string, unknown>>;
  /** What the platform of an endpoint can; undefined when the configuration has no such endpoint. */
  can(endpoint: string): Can | undefined;
  /** The conversation in which this person reads alone; undefined where the platform has none. */
  direct(endpoint: string, user: string): string | undefined;
  /** A signed link to a stored file; undefined where people could not open it. */
  fileUrl(endpoint: string, file: FileRef): string | undefined;
  /** The full `<owner>:<name>` of a short or full name. */
  endpoint(name: string): string;
  /** Counts one more running item; call the answer when it has ended. Undefined when the generation takes no more. */
  enter(): (() => void) | undefined;
  /** Prefix of typed commands, and who may use those for operators. */
  readonly commands: { readonly prefix: string; isOperator(user: User): boolean };
}
