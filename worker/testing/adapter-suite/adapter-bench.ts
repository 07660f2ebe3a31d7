// One account of an adapter, wired as in the host: verify, parse, store once per delivery id, then answer.
import { checkAccount } from '../../endpoints/account-check.ts';
import { checkArrivals, checkCursor } from '../../endpoints/arrival-shapes.ts';
import type { AdapterModule, Arrival, Link, Outgoing, SendResult } from '../../sdk/adapter.ts';
import { readAdapter } from '../../sdk/definition.ts';
import type { CheckResult } from '../../sdk/platform/account-check.ts';
import type { HttpAnswer, RawRequest } from '../../sdk/request.ts';
import { check } from '../../sdk/schema/check.ts';
import { BENCH, refuseBadOptions } from '../option-shapes.ts';

/** The default of `files.maxFileBytes`. */
const MOST_FILE_BYTES = 67_108_864;

/** One running account, with its stored arrivals. */
export interface Bench {
  /** The arrivals that the host would store: each delivery once, without the adapter's own messages. */
  readonly stored: readonly Arrival[];
  readonly cursor: string | undefined;
  /** State that survives a crash. Pass it to the bench of the next life. */
  readonly committed: Committed;
  /** Log entries of the adapter, and of the bench: why a delivery was refused, or could not be parsed. */
  readonly logs: readonly unknown[];
  /** Sends a request to the adapter's webhook. The answer is 404 if the account has no address. */
  deliver(request: RawRequest): Promise<HttpAnswer>;
  send(call: Outgoing): Promise<SendResult>;
  /** Runs `catchUp`: fetches the arrivals after the cursor. */
  catchUp(): Promise<void>;
  /** Runs `connect` until the connection is closed or ends by itself. Another connection continues at the cursor. */
  connect(): Connection;
  /** The findings of `svc doctor --endpoint`, with this webhook address. */
  check(url?: string): Promise<readonly CheckResult[]>;
  /** Aborts `link.signal`. */
  stop(): void;
}

/** One run of `connect`. */
export interface Connection {
  /** Resolves once the adapter is online. Rejects if the connection ends before. */
  readonly online: Promise<void>;
  /** Resolves once `connect` has returned. Rejects with its error. */
  readonly ended: Promise<void>;
  /** Aborts `link.signal`. Resolves once `connect` has ended, also after an error. */
  close(): Promise<void>;
}

/** The stored state of one account. */
export interface Committed {
  /** All stored arrivals, with the adapter's own messages. */
  readonly arrivals: readonly Arrival[];
  readonly cursor: string | undefined;
}

/** Options that stand in for the host. */
export interface BenchOptions {
  /** Bytes for `link.readFile` and `link.openFile`, by file id. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
  /** Addresses for `link.fileUrl`, by file id. Default: none. */
  readonly fileUrls?: Readonly<Record<string, string>>;
  /** The account's id in the configuration. Default `bench`. */
  readonly endpoint?: string;
  /** The state that the previous life stored. Nothing else of the adapter survives. */
  readonly committed?: Committed;
  /**
   * Called instead of storing; `commit()` stores. An error thrown before or after `commit()` rejects `receive`, and makes a delivery's answer 503.
   * Default: commits.
   */
  readonly store?: (commit: () => void) => void;
}

/** Starts a bench for one account. Throws if the account does not fit the adapter's schema. */
export function adapterBench(
  adapter: AdapterModule,
  account: Record<string, unknown>,
  options: BenchOptions = {},
): Bench {
  refuseBadOptions('adapterBench', options, BENCH);
  const { files = {}, fileUrls = {}, endpoint = 'bench', committed, store = (commit) => commit() } = options;
  const definition = readAdapter(adapter);
  const checked = check({ type: 'object', properties: definition.account }, account);
  if (!checked.ok) throw new Error(`account: ${checked.faults.join('; ')}`);
  const settings = checked.value as Record<string, unknown>;

  const abort = new AbortController();
  const stored = new Map(committed?.arrivals.map((arrival) => [arrival.id, arrival]));
  const logs: unknown[] = [];
  let cursor = committed?.cursor;
  const line = (fields: object | string, message?: string): void => void logs.push([fields, message]);
  const keep = (arrivals: readonly Arrival[], next?: string): void =>
    store(() => {
      // Stored as JSON, like in the host: values that JSON drops are lost.
      for (const arrival of arrivals)
        if (!stored.has(arrival.id)) stored.set(arrival.id, JSON.parse(JSON.stringify(arrival)) as Arrival);
      cursor = next ?? cursor;
    });
  const fileOf = (id: string): Uint8Array<ArrayBuffer> => {
    const bytes = files[id];
    if (bytes === undefined) throw new Error(`there is no file ${id}`);
    return Uint8Array.from(bytes);
  };
  const link = (signal = abort.signal, online = (): void => {}): Link<Record<string, unknown>> => ({
    account: settings,
    endpoint,
    signal,
    get cursor() {
      return cursor;
    },
    log: { debug: line, info: line, warn: line, error: line },
    online,
    degraded: () => {},
    accept: () => {},
    readFile: async ({ id }) => fileOf(id),
    openFile: async ({ id }) => {
      const bytes = fileOf(id);
      return {
        bytes: bytes.byteLength,
        async *content() {
          yield bytes;
        },
      };
    },
    fileUrl: ({ id }) => fileUrls[id],
    maxFileBytes: MOST_FILE_BYTES,
    receive: async (arrivals, next) =>
      keep(checkArrivals(definition.name, arrivals), checkCursor(definition.name, next)),
  });

  return {
    get stored() {
      return [...stored.values()].filter(({ user }) => user.self !== true);
    },
    get cursor() {
      return cursor;
    },
    get committed() {
      return { arrivals: [...stored.values()], cursor };
    },
    logs,
    async deliver(request) {
      if (definition.webhook?.takes?.(settings) === false) return { status: 404 };
      if (request.method === 'GET') {
        const asked = definition.webhook?.challenge?.(request, settings);
        return asked?.kind === 'handshake'
          ? asked.answer
          : { status: asked === undefined ? 405 : (asked.status ?? 401) };
      }
      const verdict = definition.webhook?.verify(request, settings) ?? { kind: 'refused', reason: 'no webhook' };
      if (verdict.kind === 'refused') {
        line({ reason: verdict.reason }, 'a delivery was refused');
        return { status: 401 };
      }
      if (verdict.kind === 'handshake') return verdict.answer;
      let arrivals: readonly Arrival[];
      try {
        arrivals = checkArrivals(definition.name, definition.webhook?.parse(request, settings) ?? []);
      } catch (error) {
        line({ error: String(error) }, 'a delivery was verified and cannot be parsed');
        // A verified delivery that cannot be parsed is acknowledged and kept for an operator. Otherwise the platform would resend it for days.
        return { status: 202, json: { parked: true } };
      }
      try {
        keep(arrivals);
      } catch {
        return { status: 503 };
      }
      return { status: 200 };
    },
    send: async (call) => definition.send(call, link()),
    catchUp: async () => definition.catchUp?.(link()),
    connect() {
      const closed = new AbortController();
      let ended = Promise.resolve();
      const online = new Promise<void>((resolve, reject) => {
        const signal = AbortSignal.any([abort.signal, closed.signal]);
        ended = Promise.resolve(definition.connect?.(link(signal, resolve)));
        ended.then(() => reject(new Error('the connection ended before it was online')), reject);
      });
      for (const promise of [online, ended]) promise.catch(() => {}); // a caller may not await them
      return {
        online,
        ended,
        async close() {
          closed.abort();
          await ended.catch(() => {});
        },
      };
    },
    check: (url) =>
      checkAccount({
        adapter: definition,
        account: settings,
        endpoint,
        url,
        log: { debug: line, info: line, warn: line, error: line },
        mask: (text) => text,
      }),
    stop: () => abort.abort(),
  };
}
