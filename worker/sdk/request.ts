// An HTTP request with its raw bytes, and the answer, for webhooks of platforms and routes of plugins.

/** Header names are in lower case; a header that came twice is joined by a comma. A query with the same name twice is refused with 400. */
export type HeaderMap = Readonly<Record<string, string | undefined>>;

/** A request, unchanged. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly query: HeaderMap;
  readonly headers: HeaderMap;
  /** The raw bytes, as the sender signed them. */
  readonly body: Uint8Array;
  readonly receivedAt: number;
}

/** The answer to a request. */
export interface HttpAnswer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: HeaderMap;
  /** At most one of `json` and `text` is set. */
  readonly json?: unknown;
  readonly text?: string;
}

/** The result of a verifier. `handshake`: the platform confirms the address; the host answers at once and stores nothing. */
export type Verdict =
  | { readonly kind: 'ok' }
  /** Answered with 401, or 403 with `status: 403`. The answer does not hold the reason. */
  | { readonly kind: 'refused'; readonly reason: string; readonly status?: 403 }
  | { readonly kind: 'handshake'; readonly answer: HttpAnswer };
