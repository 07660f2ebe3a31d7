// The definition of a route: one entry of the table. The entry determines 404, 405, scope, body and the OpenAPI document.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Keep } from '../answer/kept-answer.ts';
import type { BodyOf, SchemaName } from '../answer/schemas.ts';
import type { StaticFiles } from '../answer/static-files.ts';
import type { Caller, Scope } from '../api/caller.ts';
import type { HostApi } from '../api/host-api.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A query parameter, in the subset of JSON Schema that the query check supports. */
export type QueryField =
  | {
      readonly type: 'string';
      readonly description: string;
      readonly maxLength: number;
      readonly enum?: readonly string[];
    }
  | {
      readonly type: 'integer';
      readonly description: string;
      readonly minimum: number;
      readonly maximum: number;
      /** Left out if a missing value has its own meaning. */
      readonly default?: number;
    };

/** Content of an answer: a named schema as JSON, another media type, or nothing. */
export type AnswerKind = SchemaName | 'nothing' | 'prometheus' | 'event-stream' | 'page' | 'any' | 'websocket';

/** A request whose target, headers, token, query and body are checked. */
export interface Exchange<B extends SchemaName | undefined> {
  readonly port: HostApi;
  readonly files: StaticFiles;
  /** All routes, for the OpenAPI document. */
  readonly routes: readonly Route[];
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Validated against the route's schema; undefined if the route has none. */
  readonly body: B extends SchemaName ? BodyOf<B> : undefined;
  /** Body of a raw route. */
  readonly bytes: Buffer;
  /** Value of If-Match, without quotes. */
  readonly revision: string | undefined;
  /** For a change that is one transaction: stores the answer under the Idempotency-Key in the same transaction. */
  readonly keep: KeepAs;
  /** The authenticated caller. Throws on a route without scope. */
  readonly caller: () => Caller;
  /** True if the Authorization header is a token of the host, which adapters and plugins must not see. */
  readonly isTokenOurs: () => boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** At most one of `json`, `text` and `bytes`. */
  readonly json?: unknown;
  readonly text?: string;
  readonly bytes?: Buffer;
}

export type KeepAs = <T>(answerOf: (result: T) => Answer) => Keep<T>;

/** `taken`: the handler writes the response itself. */
export type Handled = Answer | 'taken';

/** The current state of a path: here (perhaps with another scope than the route's), only under other methods, or absent. */
export type Located =
  | { readonly kind: 'here'; readonly scope?: Scope; readonly limitBytes?: number }
  | { readonly kind: 'other_methods'; readonly allow: readonly string[] }
  | undefined;

export interface LocateRequest {
  readonly port: HostApi;
  readonly files: StaticFiles;
  readonly params: Readonly<Record<string, string>>;
  readonly method: string;
}

export interface RouteDefinition<B extends SchemaName | undefined = undefined> {
  readonly method: Method;
  /** Path below `http.base`. `{name}` is one segment, `{name+}` one or more, `{name*}` any number. */
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly query?: Readonly<Record<string, QueryField>>;
  /** Schema of the JSON body. */
  readonly body?: B;
  /** The body is passed as raw bytes. */
  readonly raw?: boolean;
  readonly answers: Readonly<Record<number, AnswerKind>>;
  /** A change: the route accepts an Idempotency-Key. */
  readonly changes?: boolean;
  /** The revision that If-Match is compared with. `handler`: the handler compares it. Left out: If-Match is refused. */
  readonly revision?: 'handler' | ((port: HostApi) => string);
  /** For paths that exist only in some states of the host. */
  readonly locate?: (request: LocateRequest) => Located;
  /** Plugins and accounts decide if the path exists. While none are served, the answer is 503 instead of 404. */
  readonly ofGeneration?: boolean;
  handle(exchange: Exchange<B>): Handled | Promise<Handled>;
}

/** A route without its body type. The schema that the route names has checked the body. */
export type Route = Omit<RouteDefinition<SchemaName>, 'body' | 'handle'> & {
  readonly body?: SchemaName;
  handle(exchange: Exchange<undefined>): Handled | Promise<Handled>;
};

/** The route found for a request, and the parameters of its path. */
export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  /** The route's scope, or the one that `locate` returned. */
  readonly scope: Scope;
  readonly limitBytes: number | undefined;
}

/** Binds the body type of a handler to the schema that its route names. */
export function route<B extends SchemaName | undefined = undefined>(definition: RouteDefinition<B>): Route {
  return definition as unknown as Route;
}
