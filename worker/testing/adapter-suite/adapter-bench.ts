// One account of an adapter, wired as the host wires it: verify, parse, store once per delivery id, then answer.
import { checkAccount } from '../../endpoints/account-check.ts';
import { checkArrivals, checkCursor } from '../../endpoints/arrival-shapes.ts';
import type { AdapterModule, Arrival, Link, Outgoing, SendResult } from '../../sdk/adapter.ts';
import { readAdapter } from '../../sdk/definition.ts';
import type { CheckResult } from '../../sdk/platform/account-check.ts';
import type { HttpAnswer, RawRequest } from '../../sdk/request.ts';
import { check } from '../../sdk/schema/check.ts';
import { BENCH, refuseBadOptions } from '../option-shapes.ts';

/** `files.maxFileBytes` by default. */
const MOST_FILE_BYTES = 67_108_864;

/** One account at work, from its configuration to what was stored of it. */
export interface Bench {
  /** What the host would have: each delivery once, without the adapter's own messages. */
  readonly stored: readonly Arrival[];
  readonly cursor: string | undefined;
  /** What outlives a crash: hand it to the bench of the next life. */
  readonly committed: Committed;
  /** What the adapter has logged, and the bench of deliveries: why one was refused, or could not be parsed. */
  readonly logs: readonly unknown[];
  /** A request to the adapter's webhook; 404 where the account has no address. */
  deliver(request: RawRequest): Promise<HttpAnswer>;
  send(call: Outgoing): Promise<SendResult>;
  /** The endpoint comes up: pulls what came after the cursor. */
  catchUp(): Promise<void>;
  /** Runs `connect` until it is closed, or ends by itself. Another one goes on at the cursor. */
  connect(): Connection;
  /** What `svc doctor --endpoint` would tell, with this address for deliveries. */
  check(url?: string): Promise<readonly CheckResult[]>;
  /** Aborts `link.signal`. */
  stop(): void;
}

/** One run of `connect`. */
export interface Connection {
  /** Resolves once the adapter is online; rejects when the connection ends before. */
  readonly online: Promise<void>;
  /** Resolves when `connect` has returned; rejects with what it threw. */
  readonly ended: Promise<void>;
  /** Aborts `link.signal`; resolves at the end, however it was. */
  close(): Promise<void>;
}

/** Of one account. */
export interface Committed {
  /** Its own messages included. */
  readonly arrivals: readonly Arrival[];
  readonly cursor: string | undefined;
}

/** What the bench gives the adapter in the place of the host. */
export interface BenchOptions {
  /** What `link.readFile` and `link.openFile` give, by id. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
  /** What `link.fileUrl` gives, by id. Default: none. */
  readonly fileUrls?: Readonly<Record<string, string>>;
  /** The id of the account in the configuration. Default `bench`. */
  readonly endpoint?: string;
  /** What the life before has left; of the adapter itself nothing is left. */
  readonly committed?: Committed;
  /**
   * Stands between the adapter and the store. What it throws, before `commit()` or after it, the adapter sees in `receive`, and a platform
   * as 503. Default: commits.
   */
  readonly store?: (commit: () => void) => void;
}

/** Throws when the account does not fit the adapter's schema. */
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
      // As it is stored: what JSON does not keep is gone.
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
        // Verified but not understood: kept for an operator, and acknowledged, or the platform would send it for days.
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
      for (const promise of [online, ended]) promise.catch(() => {}); // for who asks
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
