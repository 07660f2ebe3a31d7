// One promise is tried: a platform on this machine, an account at it, and as many more as the promise needs.
import assert from 'node:assert/strict';
import type { AdapterModule, Outgoing } from '../../sdk/adapter.ts';
import { readAdapter } from '../../sdk/definition.ts';
import type { HttpAnswer, RawRequest } from '../../sdk/request.ts';
import { loopbackServer, type TestOwner } from '../loopback.ts';
import { adapterBench, type Bench, type BenchOptions, type Connection } from './adapter-bench.ts';
import type { Fixtures } from './fixtures.ts';
import type { Definition, Lack } from './lack.ts';

/** A test that the suite registers. */
export interface Promised {
  readonly title: string;
  /** Why it cannot be tried; undefined where it can. Left out: it always can. */
  readonly lack?: Lack;
  /** Where this is missing the promise is left to those that are there `insteadOf` it. */
  readonly unless?: Lack;
  /** Of a promise that stands in for others where this is missing. */
  readonly insteadOf?: Lack;
  /** Which part of it cannot be. */
  readonly part?: Lack;
  keep(trial: Trial): Promise<void>;
}

export interface Trial {
  readonly definition: Definition;
  readonly fixtures: Fixtures;
  /** Of the first account; what speaks no HTTP has to be `online` before it is sent anything. */
  readonly bench: Bench;
  readonly platform: TrialPlatform;
  /** Another bench at the same platform: another life of the account, where `committed` says what is left of the one before. */
  open(options?: BenchOptions): Bench;
  /** Another account of the same module, at a platform of its own. */
  another(): Promise<{ readonly bench: Bench; readonly platform: TrialPlatform }>;
  /** What `connect` throws for the account when its token is refused; undefined when it returns. */
  refusal(): Promise<unknown>;
  /** Resolves once sends are taken: at a platform without HTTP they go over the connection. */
  online(bench: Bench): Promise<void>;
}

export interface TrialPlatform {
  readonly url: string;
  /** What it was asked, in order. */
  readonly asked: readonly RawRequest[];
  /** What it answers to the next call, whatever it is. */
  next(answer: HttpAnswer): void;
  /** What it answers to every call from now on; undefined: what it does else. */
  always(answer: HttpAnswer | undefined): void;
  /** It does what the next call asks for, and its answer is lost. */
  loseNext(): void;
  cut(): void;
}

/** Runs the promise, and ends whatever it has begun. */
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

/** An adapter that goes on would do so beside the next connection of its account. */
export async function endOnceTold(connection: Connection, fixtures: Fixtures): Promise<void> {
  let isOver = false;
  void connection.close().then(() => (isOver = true));
  await until(() => isOver, fixtures, 'connect to end once link.signal has aborted');
}

/** Waits for it, and resolves to what it threw. */
async function endOf(connection: Connection, fixtures: Fixtures): Promise<unknown> {
  let end: { readonly error?: unknown } | undefined;
  connection.ended.then(
    () => (end = {}),
    (error: unknown) => (end = { error }),
  );
  await until(() => end !== undefined, fixtures, 'a connection to end whose token is refused');
  return end?.error;
}

/** The account is over, and somebody is told what to do. */
export function assertFailed(error: unknown): void {
  const { code, remedy } = (error ?? {}) as { readonly code?: unknown; readonly remedy?: unknown };
  assert.equal(code, 'account_failed', 'a refused token ends the account');
  assert.match(String(remedy ?? ''), /./, 'with a remedy');
}

type Post = Extract<Outgoing, { kind: 'post' | 'edit' }>;

/** A line to the platform. */
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

/** What became of a delivery, for who has to find out why. */
export const toldOf = ({ logs }: Bench, answer: HttpAnswer): string => JSON.stringify({ ...answer, log: logs.at(-1) });

export const isAcknowledged = ({ status = 200 }: HttpAnswer): boolean => status < 300;

const LIMIT_MS = 60_000;

/** Resolves once it is so; throws when it does not become so in time. */
export async function until(isSo: () => boolean, { timeoutMs = LIMIT_MS }: Fixtures, what: string): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!isSo()) {
    if (performance.now() > end) assert.fail(`waited ${timeoutMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
