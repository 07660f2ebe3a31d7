// What a route is: one entry of the table that decides 404, 405, scopes, bodies, the OpenAPI document and the tests.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Keep } from '../answer/kept-answer.ts';
import type { BodyOf, SchemaName } from '../answer/schemas.ts';
import type { StaticFiles } from '../answer/static-files.ts';
import type { Caller, Scope } from '../api/caller.ts';
import type { HostApi } from '../api/host-api.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A query parameter: the part of JSON Schema that query-check.ts reads. */
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
      /** Left out where no value means something of its own. */
      readonly default?: number;
    };

/** What an answer holds: a named schema as JSON, another media type, or nothing. */
export type AnswerKind = SchemaName | 'nothing' | 'prometheus' | 'event-stream' | 'page' | 'any' | 'websocket';

/** What a request is, once target, headers, token, query and body are found good. */
export interface Exchange<B extends SchemaName | undefined> {
  readonly port: HostApi;
  readonly files: StaticFiles;
  /** The whole table, for its document. */
  readonly routes: readonly Route[];
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** Validated against the route's schema; undefined where the route has none. */
  readonly body: B extends SchemaName ? BodyOf<B> : undefined;
  /** The bytes of a raw route. */
  readonly bytes: Buffer;
  /** The revision of If-Match, without its quotes. */
  readonly revision: string | undefined;
  /** Of a change that is one unit: handed on with how its result is answered, so that its answer is kept in that unit. */
  readonly keep: KeepAs;
  /** Who asks. Throws on a route without scope. */
  readonly caller: () => Caller;
  /** The Authorization header is a token of the host: nobody else is to read it. */
  readonly isTokenOurs: () => boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** At most one of the three. */
  readonly json?: unknown;
  readonly text?: string;
  readonly bytes?: Buffer;
}

export type KeepAs = <T>(answerOf: (result: T) => Answer) => Keep<T>;

/** `taken`: the handler owns the response now. */
export type Handled = Answer | 'taken';

/** Where the path leads right now: here (with a scope other than the route's own), to other methods, or nowhere. */
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
  /** Below the base: segments, `{name}` for one segment, `{name+}` for one or more, `{name*}` for any number. */
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly query?: Readonly<Record<string, QueryField>>;
  /** Schema of the JSON body. */
  readonly body?: B;
  /** The body is taken as bytes. */
  readonly raw?: boolean;
  readonly answers: Readonly<Record<number, AnswerKind>>;
  /** Changes something: takes Idempotency-Key. */
  readonly changes?: boolean;
  /** What If-Match is compared with here; `handler`: the handler hands it on; left out: If-Match is refused. */
  readonly revision?: 'handler' | ((port: HostApi) => string);
  /** For paths whose existence is the host's to say. */
  readonly locate?: (request: LocateRequest) => Located;
  /** Whether the path exists is for plugins and accounts to say: while none are served it is "not now", never "not there". */
  readonly ofGeneration?: boolean;
  handle(exchange: Exchange<B>): Handled | Promise<Handled>;
}

/** A route of the table, its body type forgotten: the schema named in it has checked the body. */
export type Route = Omit<RouteDefinition<SchemaName>, 'body' | 'handle'> & {
  readonly body?: SchemaName;
  handle(exchange: Exchange<undefined>): Handled | Promise<Handled>;
};

/** The route that a request has found, and what the path says. */
export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
  /** Of the route, or what the host says about this path. */
  readonly scope: Scope;
  readonly limitBytes: number | undefined;
}

/** Ties the body type of a handler to the schema that its route names. */
export function route<B extends SchemaName | undefined = undefined>(definition: RouteDefinition<B>): Route {
  return definition as unknown as Route;
}
