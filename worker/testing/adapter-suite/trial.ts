// Tries one promise: with a platform on this machine, an account, and as many more as the promise needs.
import assert from 'node:assert/strict';
import type { AdapterModule, Outgoing } from '../../sdk/adapter.ts';
import { readAdapter } from '../../sdk/definition.ts';
import type { HttpAnswer, RawRequest } from '../../sdk/request.ts';
import { loopbackServer, type TestOwner } from '../loopback.ts';
import { adapterBench, type Bench, type BenchOptions, type Connection } from './adapter-bench.ts';
import type { Fixtures } from './fixtures.ts';
import type { Definition, Lack } from './lack.ts';

/** A promise, tried by one test. */
export interface Promised {
  readonly title: string;
  /** The part whose absence keeps it from being tried. Left out: it can always be tried. */
  readonly lack?: Lack;
  /** If this part is missing, promises with the same part in `insteadOf` are tried instead of this one. */
  readonly unless?: Lack;
  /** This promise is tried only if this part is missing. */
  readonly insteadOf?: Lack;
  /** The part whose absence leaves some of the promise untried. */
  readonly part?: Lack;
  keep(trial: Trial): Promise<void>;
}

export interface Trial {
  readonly definition: Definition;
  readonly fixtures: Fixtures;
  /** The bench of the first account. Without HTTP, call `online` before a send. */
  readonly bench: Bench;
  readonly platform: TrialPlatform;
  /** Opens another bench at the same platform: another life of the account. `committed` is the stored state of the life before. */
  open(options?: BenchOptions): Bench;
  /** Opens another account of the adapter, at a platform of its own. */
  another(): Promise<{ readonly bench: Bench; readonly platform: TrialPlatform }>;
  /** The error of `connect` for an account with a refused token; undefined if `connect` returns. */
  refusal(): Promise<unknown>;
  /** Resolves once the account takes sends. Without HTTP, sends go over the connection. */
  online(bench: Bench): Promise<void>;
}

export interface TrialPlatform {
  readonly url: string;
  /** Received requests, in order. */
  readonly asked: readonly RawRequest[];
  /** Sets the response to the next request, whatever the request is. */
  next(answer: HttpAnswer): void;
  /** Sets the response to every request from now on; undefined: the fixtures' responses again. */
  always(answer: HttpAnswer | undefined): void;
  /** The platform handles the next request, and its response is lost. */
  loseNext(): void;
  cut(): void;
}

/** Runs the promise, then ends its benches and connections. */
export async function onTrial(
  owner: TestOwner,
  { adapter, fixtures }: { readonly adapter: AdapterModule; readonly fixtures: Fixtures },
  promised: Promised,
): Promise<void> {
  const definition = readAdapter(adapter);
  const platform = await startPlatform(owner, fixtures);
  const benches: Bench[] = [];
  const connections: Connection[] = [];
  const made = (account: Record<string, unknown>, options?: BenchOptions): Bench => {
    const bench = adapterBench(adapter, account, options);
    benches.push(bench);
    return bench;
  };
  const before = fixtures.cursor === undefined ? {} : { committed: { arrivals: [], cursor: fixtures.cursor } };
  const open = (options?: BenchOptions): Bench => made(fixtures.account(platform.url), { ...before, ...options });
  try {
    await promised.keep({
      definition,
      fixtures,
      bench: open(),
      platform,
      open,
      async another() {
        const of = await startPlatform(owner, fixtures);
        const account = (fixtures.other ?? fixtures.account)(of.url);
        return { bench: made(account, { ...before, endpoint: 'another' }), platform: of };
      },
      async refusal() {
        const { url } = await startPlatform(owner, { ...fixtures, platform: () => ({ status: 401 }) });
        const connection = made((fixtures.refused ?? fixtures.account)(url)).connect();
        connections.push(connection);
        return endOf(connection, fixtures);
      },
      async online(bench) {
        if (fixtures.platform !== undefined || definition.connect === undefined) return;
        const connection = bench.connect();
        connections.push(connection);
        await connection.online;
      },
    });
  } finally {
    fixtures.slows?.(undefined);
    for (const bench of benches) bench.stop();
    for (const connection of connections) await endOnceTold(connection, fixtures);
  }
}

async function startPlatform(owner: TestOwner, fixtures: Fixtures): Promise<TrialPlatform> {
  const asked: RawRequest[] = [];
  let forced: HttpAnswer | undefined;
  let lasting: HttpAnswer | undefined;
  let isLost = false;
  const { url, cut } = await loopbackServer(owner, (request) => {
    asked.push(request);
    const answer = forced ?? lasting ?? fixtures.platform?.(request) ?? { status: 404 };
    const given = isLost ? undefined : answer;
    forced = undefined;
    isLost = false;
    return given;
  });
  return {
    url,
    asked,
    cut,
    next: (answer) => void (forced = answer),
    always: (answer) => void (lasting = answer),
    loseNext: () => void (isLost = true),
  };
}

/** Closes the connection and waits for `connect` to end. Otherwise it would go on beside the account's next connection. */
export async function endOnceTold(connection: Connection, fixtures: Fixtures): Promise<void> {
  let isOver = false;
  void connection.close().then(() => (isOver = true));
  await until(() => isOver, fixtures, 'connect to end once link.signal has aborted');
}

/** Waits for the end of the connection, and resolves to its error. */
async function endOf(connection: Connection, fixtures: Fixtures): Promise<unknown> {
  let end: { readonly error?: unknown } | undefined;
  connection.ended.then(
    () => (end = {}),
    (error: unknown) => (end = { error }),
  );
  await until(() => end !== undefined, fixtures, 'a connection to end whose token is refused');
  return end?.error;
}

/** Asserts `account_failed` with a remedy. */
export function assertFailed(error: unknown): void {
  const { code, remedy } = (error ?? {}) as { readonly code?: unknown; readonly remedy?: unknown };
  assert.equal(code, 'account_failed', 'a refused token ends the account');
  assert.match(String(remedy ?? ''), /./, 'with a remedy');
}

type Post = Extract<Outgoing, { kind: 'post' | 'edit' }>;

/** A call that posts one line. */
export const postTo = (
  { conversation = 'room' }: Fixtures,
  change: Partial<Pick<Post, 'key' | 'text'>> = {},
): Post => ({
  kind: 'post',
  key: 'k1',
  conversation,
  text: 'hi',
  buttons: [],
  files: [],
  ...change,
});

export function goodOf({ good }: Fixtures): RawRequest {
  assert.ok(good);
  return good();
}

export const idsOf = ({ stored }: Bench): readonly string[] => stored.map(({ id }) => id);

/** The answer to a delivery and the last log entry, for failure messages. */
export const toldOf = ({ logs }: Bench, answer: HttpAnswer): string => JSON.stringify({ ...answer, log: logs.at(-1) });

export const isAcknowledged = ({ status = 200 }: HttpAnswer): boolean => status < 300;

const LIMIT_MS = 60_000;

/** Resolves once `isSo` is true. Throws if it is still false after `timeoutMs`. */
export async function until(isSo: () => boolean, { timeoutMs = LIMIT_MS }: Fixtures, what: string): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!isSo()) {
    if (performance.now() > end) assert.fail(`waited ${timeoutMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
