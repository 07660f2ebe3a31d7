// The interface between the chat page and the host.
import type { Keep } from '../answer/kept-answer.ts';

/** Needs full scope, because it shows texts of people. */
export interface ChatApi {
  /** Resolves once the message is stored. `delivery` identifies a repeat. */
  say(
    message: {
      readonly person: string;
      readonly room: string | undefined;
      readonly text: string;
      readonly delivery: string;
    },
    keep?: Keep<ChatTaken>,
  ): Promise<ChatTaken>;
  press(
    press: {
      readonly person: string;
      readonly room: string | undefined;
      readonly message: string;
      readonly token: string;
      readonly delivery: string;
    },
    keep?: Keep<ChatTaken>,
  ): Promise<ChatTaken>;
  /** The newest messages of a conversation, or those changed after a cursor; oldest first, in their current form. */
  messages(query: {
    readonly person: string;
    readonly room: string | undefined;
    readonly after: number | undefined;
    readonly limit: number;
  }): Promise<ChatMessagePage>;
}
export interface ChatTaken {
  readonly id: string;
  readonly duplicate: boolean;
}
export interface ChatMessagePage {
  readonly messages: readonly ChatMessage[];
  readonly cursor: number;
  /** More messages follow the cursor. */
  readonly more: boolean;
  /** Older messages exist that this answer leaves out. */
  readonly older: boolean;
}
export interface ChatMessage {
  readonly n: number;
  readonly id: string;
  readonly from: string;
  readonly text: string;
  readonly at: string;
  readonly buttons: readonly {
    readonly label: string;
    readonly token: string;
    readonly style?: 'primary' | 'danger';
  }[];
  readonly removed: boolean;
  readonly reactions: readonly string[];
}
