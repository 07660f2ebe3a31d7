// What the chat page asks of the host.
import type { Keep } from '../answer/kept-answer.ts';

/** The sandbox adapter's side of the chat page: full scope only, since texts of people are in it. */
export interface ChatApi {
  /** Stored before it resolves; `delivery` makes a repeat recognisable. */
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
  /** The newest messages of a conversation, or those that changed after a cursor, oldest first, as people see them now. */
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
  /** There is more behind the cursor. */
  readonly more: boolean;
  /** There are messages from before these that are not in the answer. */
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
