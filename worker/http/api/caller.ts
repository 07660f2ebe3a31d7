// The caller of a request, and the settings of the HTTP interface.
import type { Secret } from '../../../shared/secret.ts';

export type Scope = 'none' | 'demo' | 'full';

/**
 * An authenticated caller. `actor` is stored with the caller's changes. Values are `token:<name>` (HTTP), `control` (local socket) and
 * `offline` (commands without a host).
 */
export interface Caller {
  readonly scope: 'demo' | 'full';
  readonly actor: string;
  readonly requestId: string;
}

export interface NamedToken {
  readonly name: string;
  readonly scope: 'demo' | 'full';
  readonly token: Secret;
}

/** Read at each request, because a reload changes them. */
export interface HttpSettings {
  readonly base: string;
  readonly tokens: readonly NamedToken[];
  readonly corsOrigins: readonly string[];
  /** Origin of `http.publicUrl`. Browsers send it as this host's own origin, even if a proxy rewrites Host. */
  readonly publicOrigin: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly limits: {
    readonly connections: number;
    readonly connectionsPerAddress: number;
    readonly streamsPerToken: number;
    readonly bodyBytes: number;
  };
}
