// Who asks, and the settings by which the HTTP interface knows them.
import type { Secret } from '../../../shared/secret.ts';

export type Scope = 'none' | 'demo' | 'full';

/** Who asks: kept as `actor` with what follows from the request. `token:<name>` over HTTP, `control` over the local socket, `offline` at the file. */
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
  /** Of `http.publicUrl`: what browsers send as this host's own, whatever a proxy makes of Host. */
  readonly publicOrigin: string | undefined;
  readonly trustedProxies: readonly string[];
  readonly limits: {
    readonly connections: number;
    readonly connectionsPerAddress: number;
    readonly streamsPerToken: number;
    readonly bodyBytes: number;
  };
}
