// The life of an account: asks whether its token is good and of this application, then holds the gateway, or waits for its end.
//
//   C1  The position is the cursor of the account: a new process resumes the session of the one before it.
import { setTimeout as sleep } from 'node:timers/promises';
import { asObject, countAt, type Json, objectAt, textAt } from '../../sdk/foreign-json.ts';
import { accountFailed, type Link } from '../../sdk/index.ts';
import { watchAddress } from './address.ts';
import { fillGap, type Gap } from './catch-up.ts';
import { call, need } from './client.ts';
import { type Account, accountFault, opensGateway, takesInteractions } from './config.ts';
import { deferredOfAccount } from './deferred.ts';
import { Gateway, type GatewayTiming } from './gateway.ts';
import { Position } from './position.ts';
import { originalOf } from './send.ts';

/** Sessions that are left for what a person starts by hand. */
const LEAST_SESSIONS = 5;
const RETRY_MS = 30_000;

interface Held extends Gap {
  /** The gap is filled, or could not be filled now. */
  release(): void;
}
const held = new WeakMap<Account, Held>();

/** Resolves when the link's signal ends it; throws when it is lost. Coming back is the caller's. */
export async function connect(link: Link<Account>, timing: GatewayTiming): Promise<void> {
  const { account } = link;
  const fault = accountFault(account);
  if (fault !== undefined) throw accountFailed(fault.reason, fault.remedy);
  const application = asObject(await need(link, { method: 'GET', path: '/applications/@me' }));
  const id = textAt(application, 'id');
  if (id !== account.applicationId)
    throw accountFailed(
      `the token is of application ${id}, the account of ${account.applicationId}`,
      'correct token or applicationId and reload',
    );
  deferredOfAccount(account).onExpired((token) => {
    void call(link, { ...originalOf(account, token), method: 'DELETE' }).catch(() => {});
  });
  say(link, application);
  if (opensGateway(account)) return holdGateway(link, timing, application);
  link.online();
  await watchAddress(link, application);
}

async function holdGateway(link: Link<Account>, timing: GatewayTiming, application: Json): Promise<void> {
  const { account } = link;
  const bot = textAt(objectAt(application, 'bot'), 'id') ?? account.applicationId;
  const found = asObject(await need(link, { method: 'GET', path: '/gateway/bot' }));
  const url = textAt(found, 'url') ?? '';
  // The token goes there: over TLS, but to a platform on this machine.
  if (!url.startsWith('wss://') && !(url.startsWith('ws://') && account.apiUrl.startsWith('http://')))
    throw new Error('GET /gateway/bot gave no address of a WebSocket');
  const position = new Position(account.applicationId, link.cursor);
  if (position.start(Date.now())) await link.receive([], position.text());
  let isFirst = true;
  const gateway = new Gateway(link, {
    url,
    bot,
    position,
    timing,
    mayIdentify: () => mayIdentify(found),
    up: () => {
      const filled = holdFor(account, { position, bot });
      if (isFirst) {
        link.online();
        void watchAddress(link, application).catch(() => {}); // the gateway says when the account is lost
      } else void fillAgain(link);
      isFirst = false;
      return filled;
    },
  });
  const stop = (): void => void gateway.close();
  link.signal.addEventListener('abort', stop, { once: true });
  try {
    await gateway.open();
    if (link.signal.aborted) stop();
    const end = await gateway.ended;
    if (end.kind === 'failed') throw accountFailed(end.reason, end.remedy);
    if (end.kind === 'lost') throw new Error(end.reason);
  } finally {
    link.signal.removeEventListener('abort', stop);
    await gateway.close();
  }
}

/** Resolves when nothing is missing before what comes now. */
function holdFor(account: Account, gap: Gap): Promise<void> {
  return new Promise((release) => {
    held.set(account, { ...gap, release });
    if (gap.position.since === undefined) release();
  });
}

/** Each time that the account comes up. */
export async function catchUp(link: Link<Account>): Promise<void> {
  const gap = held.get(link.account);
  if (gap === undefined) return;
  try {
    await fillGap(link, gap);
  } finally {
    gap.release();
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

/** 1,000 a day; over that Discord takes the token away. */
function mayIdentify(gateway: Json): void {
  const limit = objectAt(gateway, 'session_start_limit');
  const [remaining, resetMs] = [countAt(limit, 'remaining'), countAt(limit, 'reset_after')];
  if (remaining !== undefined && remaining < LEAST_SESSIONS)
    throw new Error(
      `Discord allows ${remaining} more sessions in the next ${Math.ceil((resetMs ?? 0) / 60_000)} minutes: not used up`,
    );
}

function say({ account, log }: Link<Account>, application: Json): void {
  const key = textAt(application, 'verify_key');
  const isOurs = account.publicKeys.some((one) => one.toLowerCase() === key?.toLowerCase());
  if (takesInteractions(account) && key !== undefined && !isOurs)
    log.warn(
      { publicKey: key },
      'the public key of the application is not among publicKeys: its interactions will be refused',
    );
  log.info({ application: textAt(application, 'name'), mode: account.mode }, 'the token is good');
}
