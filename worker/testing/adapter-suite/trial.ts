// Tries one promise: with a platform on this machine, an account, and as many more as the promise needs.
import assert from 'node:assert/strict';
import type { AdapterModule, Outgoing } from '../../sdk/adapter.ts';
import { readAdapter } from '../../sdk/definition.ts';
import type { HttpAnswer, RawRequest } from '../../sdk/request.ts';
import { loopbackServer, type TestOwner } from '../loopback.ts';
import { adapterBench, type Bench, type BenchOptions, type Connection } from './adapter-bench.ts';
import type { Fixtures } from './fixtures.ts';
import type { Definition, Lack } from './lack.ts';
import { Silence } from './silence.ts';

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
  readonly silence: Silence;
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
  const benches: Bench[] = [];
  const connections: Connection[] = [];
  const silence = new Silence(fixtures.timeoutMs, () => benches.reduce((sum, { logs }) => sum + logs.length, 0));
  const platform = await startPlatform(owner, { fixtures, silence });
  const made = (account: Record<string, unknown>, options: BenchOptions = {}): Bench => {
    const { store = (commit) => commit() } = options;
    const bench = adapterBench(adapter, account, {
      ...options,
      store(commit) {
        silence.note();
        store(commit);
      },
    });
    benches.push(bench);
    return heardFrom(bench, silence);
  };
  const before = fixtures.cursor === undefined ? {} : { committed: { arrivals: [], cursor: fixtures.cursor } };
  const open = (options?: BenchOptions): Bench => made(fixtures.account(platform.url), { ...before, ...options });
  try {
    const kept = promised.keep({
      definition,
      fixtures,
      silence,
      bench: open(),
      platform,
      open,
      async another() {
        const of = await startPlatform(owner, { fixtures, silence });
        const account = (fixtures.other ?? fixtures.account)(of.url);
        return { bench: made(account, { ...before, endpoint: 'another' }), platform: of };
      },
      async refusal() {
        const refusing = { ...fixtures, platform: () => ({ status: 401 }) };
        const { url } = await startPlatform(owner, { fixtures: refusing, silence });
        const connection = made((fixtures.refused ?? fixtures.account)(url)).connect();
        connections.push(connection);
        return endOf(connection, silence);
      },
      async online(bench) {
        if (fixtures.platform !== undefined || definition.connect === undefined) return;
        const connection = bench.connect();
        connections.push(connection);
        await connection.online;
      },
    });
    await silence.guard(kept);
  } finally {
    fixtures.slows?.(undefined);
    for (const bench of benches) bench.stop();
    await endAll(connections, silence).finally(() => silence.close());
  }
}

async function endAll(connections: readonly Connection[], silence: Silence): Promise<void> {
  if (silence.isOver) return; // an adapter that was waited for in vain is not waited for once more
  for (const connection of connections) await endOnceTold(connection, silence);
}

/** The bench, with its calls and connections noted as events. */
function heardFrom(bench: Bench, silence: Silence): Bench {
  return Object.create(bench, {
    deliver: { value: (request: RawRequest) => silence.during(() => bench.deliver(request)) },
    send: { value: (call: Outgoing) => silence.during(() => bench.send(call)) },
    catchUp: { value: () => silence.during(() => bench.catchUp()) },
    check: { value: (url?: string) => silence.during(() => bench.check(url)) },
    connect: {
      value() {
        silence.note();
        const connection = bench.connect();
        for (const change of [connection.online, connection.ended])
          change.then(
            () => silence.note(),
            () => silence.note(),
          );
        return connection;
      },
    },
  }) as Bench;
}

async function startPlatform(
  owner: TestOwner,
  { fixtures, silence }: { readonly fixtures: Fixtures; readonly silence: Silence },
): Promise<TrialPlatform> {
  const asked: RawRequest[] = [];
  let forced: HttpAnswer | undefined;
  let lasting: HttpAnswer | undefined;
  let isLost = false;
  const { url, cut } = await loopbackServer(owner, (request) => {
    asked.push(request);
    silence.note();
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
export async function endOnceTold(connection: Connection, silence: Silence): Promise<void> {
  let isOver = false;
  void connection.close().then(() => (isOver = true));
  await silence.until(() => isOver, 'connect to end once link.signal has aborted');
}

/** Waits for the end of the connection, and resolves to its error. */
async function endOf(connection: Connection, silence: Silence): Promise<unknown> {
  let end: { readonly error?: unknown } | undefined;
  connection.ended.then(
    () => (end = {}),
    (error: unknown) => (end = { error }),
  );
  await silence.until(() => end !== undefined, 'a connection to end whose token is refused');
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
