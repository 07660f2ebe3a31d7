// What the interface knows of one request from its first byte to its last: ids for logs and answers, what was decided.
// Made by the request class itself (express-classes.ts); ids from outside are never taken over.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../api/caller.ts';
import type { Match } from '../routes/route.ts';

export interface RequestContext {
  readonly requestId: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Client address after trusted proxies. */
  address: string;
  match: Match | undefined;
  caller: Caller | undefined;
  /** The token that came is none of the host's; told apart from none at all, and from one that reaches less far. */
  hasWrongToken: boolean;
  /** True once the route's own code runs: what it throws may hold facts of the host. */
  entered: boolean;
  /** The client waits for `100 Continue` before it sends its body. */
  awaitsContinue: boolean;
  /** What counts in place of the status of the response: bytes behind the headers were no request any more, or a close frame said it. */
  faultStatus: number | undefined;
  /** When a stream took the response over, or its connection lingers: how long it stays open is no time of an answer. */
  takenAt: number | undefined;
}

export const newContext = (): RequestContext => ({
  requestId: randomUUID(),
  startedAt: performance.now(),
  address: '',
  match: undefined,
  caller: undefined,
  hasWrongToken: false,
  entered: false,
  awaitsContinue: false,
  faultStatus: undefined,
  takenAt: undefined,
});

/** The context of a request that this server made. */
export function contextOf(request: IncomingMessage): RequestContext {
  const { context } = request as IncomingMessage & { readonly context?: RequestContext };
  if (context === undefined) throw new Error('this request was not made by the HTTP server of svc');
  return context;
}
