// Connections of an account to the gateway: as many as Discord advises, each with its share of the servers.
//
//   DISCORD-SHARDS-1  The positions of all connections form the account's cursor. A new process resumes the sessions of the previous one.
//   DISCORD-SHARDS-2  If Discord requires more connections, all sessions are dropped and the advised number is opened.
//   DISCORD-SHARDS-3  A lost connection is reopened with backoff while the others stay. A connection that Discord refuses by itself stays closed.
//                     Meanwhile the account is `degraded` with the reason. With the last connection gone the account is lost or failed. All sessions
//                     are resumed then, at no cost in sessions.
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffDelay, nextFailures } from '../../../../shared/time/backoff.ts';
import { errorCode } from '../../../sdk/errors.ts';
import { accountFailed, type Link } from '../../../sdk/index.ts';
import { asObject, countAt, type Json, objectAt, textAt } from '../../../sdk/platform/foreign-json.ts';
import { need } from '../client.ts';
import type { Account } from '../config.ts';
import { watchAddress } from '../interactions/address.ts';
import { fillGaps, type Gap } from './catch-up.ts';
import { Gateway, type GatewayTiming } from './gateway.ts';
import { identifiesOf } from './identify.ts';
import type { Behind } from './position.ts';
import { Positions } from './positions.ts';
import { OF_ONE_SHARD, SHARDING_REQUIRED, type ShardEnd } from './shard.ts';
import { Standings } from './standings.ts';
import { Troubles } from './troubles.ts';

interface Held extends Gap {
  /** Called when the gap is filled, or cannot be filled now. */
  release(): void;
}
/** Gaps of an account by number of the shard. */
const held = new WeakMap<Account, Map<number, Held>>();

/** Resolves when the link's signal aborts. Throws when the connection is lost. */
export async function holdGateway(link: Link<Account>, timing: GatewayTiming, application: Json): Promise<void> {
  const { account } = link;
  const bot = textAt(objectAt(application, 'bot'), 'id') ?? account.applicationId;
  let advice = await askAdvice(link);
  const positions = new Positions(account.applicationId, link.cursor, advice.shards);
  if (positions.start(Date.now())) await link.receive([], positions.text());
  const count = positions.all.length;
  if (count > 1) link.log.info({ connections: count }, 'the servers are spread over several connections');

  const gaps = new Map<number, Held>();
  held.set(account, gaps);
  const troubles = new Troubles(link);
  const online = (): void => {
    link.online();
    void watchAddress(link, { application, troubles }).catch(() => {}); // the gateway reports a lost account, so an error here is ignored
  };
  const standings = new Standings(count, { troubles, online });
  const fill = gapFiller(link, timing.fillMs);
  /** New messages also wait while each connection takes its turn to begin a session. */
  const gapMs = timing.gapMs + (count - 1) * timing.identifyMs;
  const gatewayOf = (index: number): Gateway => {
    const position = positions.of(index);
    const shard = { index, count };
    const gap = { shard, position, bot, cursor: (behind?: Behind) => positions.text(position, behind) };
    const isUp = (): Promise<void> => {
      const filled = new Promise<void>((release) => {
        gaps.set(index, { ...gap, release });
        if (position.since === undefined) release();
      });
      if (standings.isOnline) fill();
      standings.up(index);
      return filled;
    };
    const cursor = (behind: Behind): string => positions.text(position, behind);
    return new Gateway(link, { url: advice.url, bot, shard, position, timing: { ...timing, gapMs }, cursor, up: isUp });
  };
  const more = (end: ShardEnd): boolean =>
    end.kind === 'failed' && end.code === SHARDING_REQUIRED && count < advice.shards;

  const over = new AbortController();
  const signal = AbortSignal.any([link.signal, over.signal]);
  /** Reopens one connection with backoff while the others stay. Resolves to an end that ends the account. */
  const keep = async (index: number): Promise<ShardEnd> => {
    for (let failures = 0; ; ) {
      const began = performance.now();
      const end = await lifeOf(gatewayOf(index), signal);
      failures = nextFailures(failures, standings.isUp(index) ? performance.now() - began : 0);
      const isOfOne = end.kind === 'lost' || (end.kind === 'failed' && OF_ONE_SHARD.has(end.code) && !more(end));
      if (!isOfOne || !standings.down(index, reasonOf(end))) return end;
      link.log.warn({ connection: index + 1, connections: count, reason: reasonOf(end) }, 'a connection is away');
      if (end.kind === 'failed') return stopped(signal);
      await pause(backoffDelay(failures, { firstMs: timing.againMs }), signal);
      advice = await adviceAgain(link, advice);
    }
  };
  const keepers = positions.all.map((_, index) => keep(index));
  try {
    const end = await Promise.race(keepers);
    if (more(end)) {
      over.abort();
      await Promise.allSettled(keepers);
      for (const position of positions.all) position.drop(); // the new number of connections needs new sessions
      await link.receive([], positions.text());
      throw new Error(`Discord wants ${advice.shards} connections`);
    }
    throwLost(end);
  } finally {
    over.abort();
    await Promise.allSettled(keepers);
  }
}

interface Advice {
  readonly url: string;
  readonly shards: number;
}

/** Gateway address and number of connections. Also updates how many sessions may begin. */
async function askAdvice(link: Link<Account>): Promise<Advice> {
  const found = asObject(await need(link, { method: 'GET', path: '/gateway/bot' }));
  const url = textAt(found, 'url') ?? '';
  // The bot token goes to this address, so it must use TLS unless the configured API itself is plain HTTP.
  if (!url.startsWith('wss://') && !(url.startsWith('ws://') && link.account.apiUrl.startsWith('http://')))
    throw new Error('GET /gateway/bot gave no address of a WebSocket');
  identifiesOf(link.account).told(found);
  return { url, shards: Math.max(1, countAt(found, 'shards') ?? 1) };
}

/** The last known advice if Discord does not respond. Throws if Discord refuses the account. */
async function adviceAgain(link: Link<Account>, known: Advice): Promise<Advice> {
  try {
    return link.signal.aborted ? known : await askAdvice(link);
  } catch (error) {
    if (errorCode(error) === 'account_failed') throw error;
    return known;
  }
}

/** Runs one connection until its end. Nothing of it runs on afterwards. */
async function lifeOf(gateway: Gateway, signal: AbortSignal): Promise<ShardEnd> {
  if (signal.aborted) return { kind: 'stopped' };
  const stop = (): void => void gateway.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await gateway.open();
    return await gateway.ended;
  } catch (error) {
    return { kind: 'lost', reason: error instanceof Error ? error.message : String(error) };
  } finally {
    signal.removeEventListener('abort', stop);
    await gateway.close();
  }
}

function reasonOf(end: ShardEnd): string {
  if (end.kind === 'stopped') return 'it was stopped';
  return end.kind === 'lost' ? `${end.reason} (tried again)` : `${end.reason} (${end.remedy})`;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal, ref: false }).catch(() => {});

const stopped = (signal: AbortSignal): Promise<ShardEnd> =>
  new Promise((resolve) => {
    const end = (): void => resolve({ kind: 'stopped' });
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });

function throwLost(end: ShardEnd): void {
  if (end.kind === 'failed') throw accountFailed(end.reason, end.remedy);
  if (end.kind === 'lost') throw new Error(end.reason);
}

/** Called each time the account comes online. */
export async function catchUp(link: Link<Account>): Promise<void> {
  const gaps = [...(held.get(link.account)?.values() ?? [])];
  try {
    await fillGaps(link, gaps);
  } finally {
    for (const { release } of gaps) release();
  }
}

/**
 * Returns a function that fills gaps after a new session on an account that is online already. The host asks for a catch-up only when an account
 * comes online.
 * Each call fills all open gaps, so only the newest keeps retrying while the API fails.
 */
function gapFiller(link: Link<Account>, fillMs: number): () => void {
  let turn = new AbortController();
  return () => {
    turn.abort();
    turn = new AbortController();
    void fillAgain(link, fillMs, AbortSignal.any([link.signal, turn.signal]));
  };
}

async function fillAgain(link: Link<Account>, fillMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return await catchUp(link);
    } catch (error) {
      if (signal.aborted) return;
      link.log.warn({ err: error }, 'what was said in a gap could not be fetched: tried again');
      await pause(fillMs, signal);
    }
  }
}
