// An HTTP request as bytes, and the answer to one: for webhooks of platforms and for routes of plugins.

/** Names of headers are in lower case, and one that came twice is joined by a comma; a query that names one twice is refused with 400. */
export type HeaderMap = Readonly<Record<string, string | undefined>>;

/** A request as it came. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly query: HeaderMap;
  readonly headers: HeaderMap;
  /** The bytes as they came: what a signature is made over. */
  readonly body: Uint8Array;
  readonly receivedAt: number;
}

/** The answer to a request. */
export interface HttpAnswer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: HeaderMap;
  /** At most one of json and text. */
  readonly json?: unknown;
  readonly text?: string;
}

/** What a verifier says of a request. `handshake`: the platform asks whether we are there; answered at once, nothing is stored. */
export type Verdict =
  | { readonly kind: 'ok' }
  /** 401 without detail, unless `status` says 403. */
  | { readonly kind: 'refused'; readonly reason: string; readonly status?: 403 }
  | { readonly kind: 'handshake'; readonly answer: HttpAnswer };
