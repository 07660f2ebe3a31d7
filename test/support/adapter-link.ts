// What the host gives an adapter, for tests of an adapter alone: keeps what arrives, and shows whether it is online.
import type { AdapterDefinition, AdapterModule, Arrival, Link, Logger } from '../../worker/sdk/index.ts';

type Properties = Parameters<typeof import('../../worker/sdk/index.ts')['t']['object']>[0];

export interface TestLink<A> extends Link<A> {
  readonly arrivals: readonly Arrival[];
  readonly isOnline: boolean;
  /** Ends the connection, as a disabled endpoint or a retired generation does. */
  stop(): void;
}

export interface TestLinkOptions {
  /** Stands between the adapter and the store: may throw or wait. */
  readonly store?: (arrivals: readonly Arrival[]) => Promise<void>;
}

/** A link with an account as the host would have parsed it. */
export function adapterLink<A>(account: A, { store }: TestLinkOptions = {}): TestLink<A> {
  const arrivals: Arrival[] = [];
  const controller = new AbortController();
  let isOnline = false;
  return {
    account,
    endpoint: 'root/test:test',
    signal: controller.signal,
    log: silent,
    cursor: undefined,
    arrivals,
    get isOnline() {
      return isOnline;
    },
    online() {
      isOnline = true;
    },
    readFile: () => Promise.reject(new Error('no files here')),
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
