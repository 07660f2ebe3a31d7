// One account of an adapter, wired as the host wires it: verify, parse, store once per delivery id, then answer.
import { checkAccount } from '../../endpoints/account-check.ts';
import type { CheckResult } from '../account-check.ts';
import type { AdapterModule, Arrival, Link, Outgoing, SendResult } from '../adapter.ts';
import { check } from '../check.ts';
import { readAdapter } from '../definition.ts';
import type { HttpAnswer, RawRequest } from '../request.ts';

export interface Bench {
  /** What the host would have: each delivery once, without the adapter's own messages. */
  readonly stored: readonly Arrival[];
  readonly cursor: string | undefined;
  readonly logs: readonly unknown[];
  /** A request to the adapter's webhook. */
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

export interface Connection {
  /** Resolves once the adapter is online; rejects when the connection ends before. */
  readonly online: Promise<void>;
  /** Resolves when `connect` has returned; rejects with what it threw. */
  readonly ended: Promise<void>;
  /** Aborts `link.signal`; resolves at the end, however it was. */
  close(): Promise<void>;
}

export interface BenchOptions {
  /** What `link.readFile` and `link.openFile` give, by id. */
  readonly files?: Readonly<Record<string, Uint8Array>>;
}

/** Throws when the account does not fit the adapter's schema. */
export function adapterBench(
  adapter: AdapterModule,
  account: Record<string, unknown>,
  { files = {} }: BenchOptions = {},
): Bench {
  const definition = readAdapter(adapter);
  const checked = check({ type: 'object', properties: definition.account }, account);
  if (!checked.ok) throw new Error(`account: ${checked.faults.join('; ')}`);
  const settings = checked.value as Record<string, unknown>;

  const abort = new AbortController();
  const stored = new Map<string, Arrival>();
  const logs: unknown[] = [];
  let cursor: string | undefined;
  const line = (fields: object | string, message?: string): void => void logs.push([fields, message]);
  const keep = (arrivals: readonly Arrival[]): void => {
    // As it is stored: what JSON does not keep is gone.
    for (const arrival of arrivals)
      if (!stored.has(arrival.id)) stored.set(arrival.id, JSON.parse(JSON.stringify(arrival)) as Arrival);
  };
  const fileOf = (id: string): Uint8Array => {
    const bytes = files[id];
    if (bytes === undefined) throw new Error(`there is no file ${id}`);
    return bytes;
  };
  const link = (signal = abort.signal, online = (): void => {}): Link<Record<string, unknown>> => ({
    account: settings,
    endpoint: 'bench',
    signal,
    cursor,
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
    receive: async (arrivals, next) => {
      keep(arrivals);
      cursor = next ?? cursor;
    },
  });

  return {
    get stored() {
      return [...stored.values()].filter(({ user }) => user.self !== true);
    },
    get cursor() {
      return cursor;
    },
    logs,
    async deliver(request) {
      const verdict = definition.webhook?.verify(request, settings) ?? { kind: 'refused', reason: 'no webhook' };
      if (verdict.kind === 'refused') return { status: 401 };
      if (verdict.kind === 'handshake') return verdict.answer;
      try {
        keep(definition.webhook?.parse(request, settings) ?? []);
      } catch {
        // Verified but not understood: kept for an operator, and acknowledged, or the platform would send it for days.
        return { status: 202, json: { parked: true } };
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
        endpoint: 'bench',
        url,
        log: { debug: line, info: line, warn: line, error: line },
        mask: (text) => text,
      }),
    stop: () => abort.abort(),
  };
}
