// The state of a request from first byte to last: the id for logs and answers, and all decisions. The request class makes it. Ids sent by a
// client are never used.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../api/caller.ts';
import type { Match } from '../routes/route.ts';

export interface RequestContext {
  readonly requestId: string;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Client address, after trusted proxies. */
  address: string;
  match: Match | undefined;
  caller: Caller | undefined;
  /** A token was sent that is not configured. No token, or a token of too narrow scope, does not set it. */
  hasWrongToken: boolean;
  /** True once code of the route runs. Errors after that may contain facts of the host. */
  entered: boolean;
  /** The client waits for `100 Continue` before it sends the body. */
  awaitsContinue: boolean;
  /** The answer, if the request waited for a start that did not end in time. */
  notStarted: Error | undefined;
  /** The status to count instead of the response's, after a malformed rest of a request or a refusal by close frame. */
  faultStatus: number | undefined;
  /** When a stream took over the response, or the connection began to linger. The time after it is not counted as response time. */
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
  notStarted: undefined,
  faultStatus: undefined,
  takenAt: undefined,
});

/** Throws for a request that this server did not make. */
export function contextOf(request: IncomingMessage): RequestContext {
  const { context } = request as IncomingMessage & { readonly context?: RequestContext };
  if (context === undefined) throw new Error('this request was not made by the HTTP server of svc');
  return context;
}
