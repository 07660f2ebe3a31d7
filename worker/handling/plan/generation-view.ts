// The part of a generation that item handling uses.
import type { Can, ConversationRef, FileRef, Language, User } from '../../sdk/index.ts';
import type { Capabilities } from './capabilities.ts';

export interface GenerationView {
  readonly number: number;
  readonly capabilities: Capabilities;
  /** Aborts when the generation is retired and its last handler has ended, or when the time limit is over. */
  readonly signal: AbortSignal;
  /** Optional parts of the host by name, added to the context of plugins that ask for them. */
  readonly parts: Readonly<Record<string, unknown>>;
  /** Features of the endpoint's platform. Undefined if the configuration has no such endpoint. */
  can(endpoint: string): Can | undefined;
  /** The private conversation of this person; undefined if the platform has none. */
  direct(endpoint: string, user: string): string | undefined;
  /** A signed link to a stored file; undefined if people could not open it. */
  fileUrl(endpoint: string, file: FileRef): string | undefined;
  /** The full `<owner>:<name>` of a full or short name. */
  endpoint(name: string): string;
  /** Counts a running item. Call the returned function at its end. Undefined if the generation takes no more. */
  enter(): (() => void) | undefined;
  /** Of the host's own texts in this conversation; without one, of the host. */
  language(conversation?: ConversationRef): Language;
  /** `schedule.timezone`, the zone of times that people write. */
  readonly timezone: string;
  /** The prefix of typed commands, and who is an operator. */
  readonly commands: { readonly prefix: string; isOperator(user: User): boolean };
}
