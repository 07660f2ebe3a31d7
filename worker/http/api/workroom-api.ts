// The Workroom as the HTTP interface sees it.
import type {
  RawWorkEvents,
  Verification,
  WorkAccepted,
  WorkBoards,
  WorkErased,
  WorkEventPage,
  WorkItemPage,
  WorkItemShown,
  WorkMembers,
  WorkOverview,
} from '../../../shared/api/workroom.ts';
import type { Keep } from '../answer/kept-answer.ts';
import type { Caller } from './caller.ts';

export interface WorkItemsAsked {
  readonly board: string | undefined;
  readonly state: string | undefined;
  readonly assignee: string | undefined;
  readonly after: string | undefined;
  readonly limit: number;
  /** Words of people, members and actors are shown. */
  readonly texts: boolean;
}

export interface WorkroomApi {
  overview(): Promise<WorkOverview>;
  items(asked: WorkItemsAsked): Promise<WorkItemPage>;
  /** Throws `not_found`. */
  item(id: string, texts: boolean): Promise<WorkItemShown>;
  boards(texts: boolean): Promise<WorkBoards>;
  members(texts: boolean): Promise<WorkMembers>;
  events(asked: {
    readonly after: number;
    readonly limit: number;
    readonly stream: string | undefined;
    readonly raw: boolean;
  }): Promise<WorkEventPage | RawWorkEvents>;
  /**
   * Throws `command_refused`, with the reason in `details`; `precondition_failed`; `invalid_request`. `key`: the command id; the same again gets the
   * same answer.
   */
  command(
    caller: Caller,
    command: unknown,
    asked: {
      readonly key: string | undefined;
      readonly ifVersion: number | undefined;
      readonly keep: Keep<WorkAccepted>;
    },
  ): Promise<WorkAccepted>;
  /** A code by which a person links an account to this member in chat. */
  code(caller: Caller, member: string): Promise<{ readonly code: string }>;
  /** Erases the words of an item, or of a member. Throws `invalid_request`, `not_found`, `command_refused`. */
  erase(caller: Caller, of: { readonly item?: string; readonly member?: string }): Promise<WorkErased>;
  verify(): Promise<Verification>;
}
