// Holds an account in one of three modes.
//
//   ONEBOT11-CONNECT-1  Forward: tokens are tried in turn, and the account fails only if all are rejected. Reverse: waits for the implementation, and
//                       is `connecting` meanwhile. HTTP: asks for the status every `statusMs`.
//   ONEBOT11-CONNECT-2  Online means that the implementation has named its bot, and that the bot is online.
//   ONEBOT11-CONNECT-3  Received events are stored before the connection ends, if the storage accepts them.

import { errorCode } from '../../sdk/errors.ts';
import { accountFailed, type Link } from '../../sdk/index.ts';
import { refusedToken } from './calls/answer.ts';
import { callerOf, enter, leave, loginOf, statusOf, tokensOf, tookToken } from './calls/caller.ts';
import { openChannel } from './calls/channel.ts';
import { Session } from './calls/session.ts';
import { type Account, accountFault } from './config.ts';
import type { Timing } from './timing.ts';
import { type Role, roleOf } from './verify.ts';

const POLICY = 1008;

/** Resolves when the link's signal aborts. Throws when the connection is lost. Reconnecting is the caller's job. */
export async function connect(link: Link<Account>, timing: Timing): Promise<void> {
  const fault = accountFault(link.account);
  if (fault !== undefined) throw accountFailed(fault.reason, fault.remedy);
  switch (link.account.mode) {
    case 'forward':
      return forward(link, timing);
    case 'reverse':
      return reverse(link, timing);
    case 'http':
      return overHttp(link, timing);
  }
}

/** Tries the tokens in turn. Fails the account only if all are rejected. */
async function forward(link: Link<Account>, timing: Timing): Promise<void> {
  let refusal: unknown;
  for (const { token, index } of tokensOf(link.account)) {
    const session = new Session(link, timing);
    try {
      await dial(session, link, { token, timing });
      await hold(session, link, () => tookToken(link.account, index));
      return;
    } catch (error) {
      if (errorCode(error) !== 'account_failed' || session.self !== undefined) throw error;
      refusal = error;
    } finally {
      await end(session, link);
    }
  }
  throw refusal;
}

/** Opens one or two sockets. Throws `accountFailed` for a rejected token. */
export async function dial(
  session: Session,
  { account, signal }: Pick<Link<Account>, 'account' | 'signal'>,
  { token, timing }: { readonly token: string | undefined; readonly timing: Timing },
): Promise<void> {
  for (const [role, address] of addressesOf(account)) {
    const opening = await openChannel(address, { ...timing, token, signal });
    if (opening.kind === 'refused') throw refusedToken(opening.reason);
    session.attach(role, opening.channel);
  }
}

function addressesOf({ url = '', split }: Account): readonly (readonly [Role, string])[] {
  if (!split) return [['universal', url]];
  const below = (name: string): string => {
    const address = new URL(url);
    address.pathname = `${address.pathname.replace(/\/$/, '')}/${name}`;
    return address.href;
  };
  // The socket for calls opens first, because the first event may need an answer.
  return [
    ['api', below('api')],
    ['event', below('event')],
  ];
}

async function reverse(link: Link<Account>, timing: Timing): Promise<void> {
  const session = new Session(link, timing);
  try {
    let bot: string | undefined;
    link.accept((socket) => {
      const self = socket.request.headers['x-self-id'];
      bot ??= self;
      if (self !== undefined && self !== (session.self ?? bot)) return socket.close(POLICY, 'another bot is connected');
      session.attach(roleOf(socket.request.headers) ?? 'universal', socket);
      if (session.self !== undefined) void recheck(session, link);
    });
    await Promise.race([session.ready, session.ended, aborted(link.signal)]);
    await hold(session, link);
  } finally {
    await end(session, link);
  }
}

/** A socket that replaces another must belong to the same bot. Otherwise sends would go out under another bot. */
async function recheck(session: Session, { account }: Link<Account>): Promise<void> {
  try {
    const self = await loginOf(session, account);
    if (self !== session.self) session.fail(new Error(`the bot ${self} came in the place of ${session.self}`));
  } catch (error) {
    session.fail(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Runs the connection from its first socket to its end. Online once the bot is known and online. */
async function hold(session: Session, link: Link<Account>, took: () => void = () => {}): Promise<void> {
  const stop = aborted(link.signal);
  enter(link.account, session);
  await Promise.race([stop, session.ended, begin(session, link).then(took)]);
  await Promise.race([stop, session.ended]);
}

async function begin(session: Session, link: Link<Account>): Promise<void> {
  if (link.signal.aborted) return;
  const self = await loginOf(session, link.account);
  const status = await statusOf(session);
  if (status?.['online'] === false) throw new Error('the bot is offline at the implementation');
  if (link.signal.aborted) return;
  session.known(self);
  link.log.info({ bot: self, mode: link.account.mode }, 'the implementation is connected');
  link.online();
  if (status !== undefined) session.status(status);
}

/** Stores received events, then ends the connection. */
async function end(session: Session, link: Link<Account>): Promise<void> {
  await session.close();
  leave(link.account, session);
}

async function overHttp(link: Link<Account>, { statusMs }: Timing): Promise<void> {
  const caller = callerOf(link);
  const self = await loginOf(caller, link.account);
  link.log.info({ bot: self, mode: 'http' }, 'the implementation answers');
  for (let isFirst = true; !link.signal.aborted; isFirst = false) {
    if (!isFirst) await loginOf(caller, link.account); // another bot may have logged in meanwhile
    const status = await statusOf(caller);
    if (status?.['online'] === false) throw new Error('the bot is offline at the implementation');
    const isWell = status?.['good'] !== false;
    if (isFirst || isWell) link.online();
    if (!isWell) link.degraded('the implementation says that it is not well (status.good)');
    await pause(statusMs, link.signal);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
