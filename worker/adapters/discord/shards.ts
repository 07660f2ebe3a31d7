// The connections of an account to the gateway: as many as Discord advises, each with its share of the servers. The account is online once all
// are up, and its connection is lost with any of them: all are resumed then, which costs no session.
//
//   C1  Their positions are the cursor of the account: a new process resumes the sessions of the one before it.
//   C2  Where Discord wants more connections than there are, all sessions are given up for as many as it advises; at that number the account fails.
import { setTimeout as sleep } from 'node:timers/promises';
import { asObject, countAt, type Json, objectAt, textAt } from '../../sdk/foreign-json.ts';
import { accountFailed, type Link } from '../../sdk/index.ts';
import { watchAddress } from './address.ts';
import { fillGaps, type Gap } from './catch-up.ts';
import { need } from './client.ts';
import type { Account } from './config.ts';
import { Gateway, type GatewayTiming } from './gateway.ts';
import { identifiesOf } from './identify.ts';
import type { Behind } from './position.ts';
import { Positions } from './positions.ts';
import { SHARDING_REQUIRED, type ShardEnd } from './shard.ts';

const RETRY_MS = 30_000;

interface Held extends Gap {
  /** The gap is filled, or could not be filled now. */
  release(): void;
}
/** By shard. */
const held = new WeakMap<Account, Map<number, Held>>();

/** Resolves when the link's signal ends it; throws when it is lost. */
export async function holdGateway(link: Link<Account>, timing: GatewayTiming, application: Json): Promise<void> {
  const { account } = link;
  const bot = textAt(objectAt(application, 'bot'), 'id') ?? account.applicationId;
  const found = asObject(await need(link, { method: 'GET', path: '/gateway/bot' }));
  const url = textAt(found, 'url') ?? '';
  // The token goes there: over TLS, but to a platform on this machine.
  if (!url.startsWith('wss://') && !(url.startsWith('ws://') && account.apiUrl.startsWith('http://')))
    throw new Error('GET /gateway/bot gave no address of a WebSocket');
  identifiesOf(account).told(found);
  const advised = Math.max(1, countAt(found, 'shards') ?? 1);
  const positions = new Positions(account.applicationId, link.cursor, advised);
  if (positions.start(Date.now())) await link.receive([], positions.text());
  const count = positions.all.length;
  if (count > 1) link.log.info({ connections: count }, 'the servers are spread over several connections');

  const up = new Set<number>();
  const gaps = new Map<number, Held>();
  held.set(account, gaps);
  /** Newer messages wait for the turns of all of them. */
  const gapMs = timing.gapMs + (count - 1) * timing.identifyMs;
  const gateways = positions.all.map((position, index) => {
    const shard = { index, count };
    const gap = { shard, position, bot, cursor: () => positions.text() };
    const isUp = (): Promise<void> => {
      const filled = new Promise<void>((release) => {
        gaps.set(index, { ...gap, release });
        if (position.since === undefined) release();
      });
      const wasOnline = up.size === count;
      up.add(index);
      if (wasOnline) void fillAgain(link);
      else if (up.size === count) {
        link.online();
        void watchAddress(link, application).catch(() => {}); // the gateway says when the account is lost
      }
      return filled;
    };
    const cursor = (behind: Behind): string => positions.text(position, behind);
    return new Gateway(link, { url, bot, shard, position, timing: { ...timing, gapMs }, cursor, up: isUp });
  });
  const close = async (): Promise<void> => void (await Promise.all(gateways.map((gateway) => gateway.close())));
  const stop = (): void => void close();
  link.signal.addEventListener('abort', stop, { once: true });
  try {
    await Promise.all(gateways.map((gateway) => gateway.open()));
    if (link.signal.aborted) stop();
    const end = await Promise.race(gateways.map(({ ended }) => ended));
    await close();
    if (end.kind === 'failed' && end.code === SHARDING_REQUIRED && count < advised) {
      for (const position of positions.all) position.drop(); // C2
      await link.receive([], positions.text());
      throw new Error(`Discord wants ${advised} connections`);
    }
    throwLost(end);
  } finally {
    link.signal.removeEventListener('abort', stop);
    await close();
  }
}

function throwLost(end: ShardEnd): void {
  if (end.kind === 'failed') throw accountFailed(end.reason, end.remedy);
  if (end.kind === 'lost') throw new Error(end.reason);
}

/** Each time that the account comes up. */
export async function catchUp(link: Link<Account>): Promise<void> {
  const gaps = [...(held.get(link.account)?.values() ?? [])];
  try {
    await fillGaps(link, gaps);
  } finally {
    for (const { release } of gaps) release();
  }
}

/** A new session on a connection that is online already: the host does not ask again. */
async function fillAgain(link: Link<Account>): Promise<void> {
  while (!link.signal.aborted) {
    try {
      return await catchUp(link);
    } catch (error) {
      link.log.warn({ err: error }, 'what was said in a gap could not be fetched: tried again');
      await sleep(RETRY_MS, undefined, { signal: link.signal, ref: false }).catch(() => {});
    }
  }
}
