// What the host gives an adapter, for tests of an adapter alone: keeps what arrives, and shows whether it is online.
import type {
  AdapterDefinition,
  AdapterModule,
  Arrival,
  Link,
  Logger,
  PlatformSocket,
} from '../../../worker/sdk/index.ts';

type Properties = Parameters<typeof import('../../../worker/sdk/index.ts')['t']['object']>[0];

export interface TestLink<A> extends Link<A> {
  readonly arrivals: readonly Arrival[];
  readonly isOnline: boolean;
  /** What the adapter said last of a connection that stands; undefined when all of it works. */
  readonly trouble: string | undefined;
  /** A WebSocket that the platform opened; the adapter has asked for them. */
  open(socket: PlatformSocket): void;
  /** Ends the connection, as a disabled endpoint or a retired generation does. */
  stop(): void;
}

export interface TestLinkOptions {
  /** Stands between the adapter and the store: may throw or wait. */
  readonly store?: (arrivals: readonly Arrival[]) => Promise<void>;
  /** Silent without. */
  readonly log?: Logger;
}

/** A link with an account as the host would have parsed it. */
export function adapterLink<A>(account: A, { store, log = silent }: TestLinkOptions = {}): TestLink<A> {
  const arrivals: Arrival[] = [];
  const controller = new AbortController();
  let isOnline = false;
  let trouble: string | undefined;
  let take: ((socket: PlatformSocket) => void) | undefined;
  return {
    account,
    endpoint: 'root/test:test',
    signal: controller.signal,
    log,
    cursor: undefined,
    arrivals,
    get isOnline() {
      return isOnline;
    },
    get trouble() {
      return trouble;
    },
    online() {
      isOnline = true;
      trouble = undefined;
    },
    degraded(reason) {
      trouble = reason;
    },
    accept(next) {
      take = next;
    },
    open(socket) {
      if (take === undefined) throw new Error('the adapter takes no WebSockets');
      take(socket);
    },
    readFile: () => Promise.reject(new Error('no files here')),
    openFile: () => Promise.reject(new Error('no files here')),
    fileUrl: () => undefined,
    maxFileBytes: 67_108_864,
    async receive(batch) {
      await store?.(batch);
      arrivals.push(...batch);
    },
    stop: () => controller.abort(),
  };
}

/** The definition inside an adapter's module. */
export function definitionOf<P extends Properties>(module: AdapterModule, _account: P): AdapterDefinition<P> {
  return module as unknown as AdapterDefinition<P>;
}

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };
