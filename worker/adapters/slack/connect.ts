// Connection of a Slack account: checks the token, then waits for the end. In Socket Mode it also holds the WebSocket.
//
//   SLACK-CONNECT-1  Slack replaces its sockets every few hours and announces that. The new socket opens first; the old one is read until then.
//                    The account stays online throughout.
//   SLACK-CONNECT-2  A socket lost without an announcement ends the connection. The host reconnects with backoff.
//   SLACK-CONNECT-3  Slack's events about revoked tokens may be late or about other tokens. The account's token is therefore checked again.

import { accountFailed, type Link } from '../../sdk/index.ts';
import { textAt } from '../../sdk/platform/foreign-json.ts';
import { adminsOf, askFor } from './admins.ts';
import { onRevoked } from './arrivals/revoked.ts';
import { announceSibling, join } from './arrivals/siblings.ts';
import { SlackSocket, type SocketTiming } from './arrivals/socket.ts';
import { type Caller, call } from './client.ts';
import { type Account, accountFault } from './config.ts';

/** More than MOST_SOON replacements in a row, each within SOON_MS, count as a failure. */
const SOON_MS = 10_000;
const MOST_SOON = 5;

/** Resolves when the link's signal aborts. Throws when the connection is lost; the caller reconnects. */
export async function connect(link: Link<Account>, timing: SocketTiming): Promise<void> {
  const fault = accountFault(link.account);
  if (fault !== undefined) throw accountFailed(fault.reason, fault.remedy);
  if (link.account.mode === 'socket') announceSibling(link);
  const { json } = await need(link, 'auth.test');
  const [team, user] = [textAt(json, 'team_id'), textAt(json, 'user_id')];
  if (link.account.team !== undefined && ![team, textAt(json, 'enterprise_id')].includes(link.account.team))
    throw accountFailed(
      `the token is of workspace ${team}, the account of ${link.account.team}`,
      'correct team or token and reload',
    );
  link.log.info({ team, user, mode: link.account.mode }, 'the token is good');
  const { refused, unwatch } = watchToken(link);
  const ask = askFor(link, team);
  adminsOf(link.account).open(ask);
  try {
    await Promise.race([link.account.mode === 'socket' ? holdSocket(link, timing) : holdAddress(link), refused]);
  } finally {
    adminsOf(link.account).close(ask);
    unwatch();
  }
}

/** `refused` rejects once Slack no longer accepts the token. Another failure of the check is ignored: the next call shows it. */
function watchToken(link: Link<Account>): { readonly refused: Promise<never>; readonly unwatch: () => void } {
  let fail: (error: unknown) => void = () => {};
  const refused = new Promise<never>((_, reject) => (fail = reject));
  const unwatch = onRevoked(link.account, () => {
    link.log.warn('Slack says that a token of the app is revoked, or the app uninstalled');
    need(link, 'auth.test').catch((error: unknown) => {
      if ((error as { readonly code?: unknown }).code === 'account_failed') fail(error);
    });
  });
  return { refused, unwatch };
}

async function holdAddress(link: Link<Account>): Promise<void> {
  link.online();
  await aborted(link.signal);
}

async function holdSocket(link: Link<Account>, timing: SocketTiming): Promise<void> {
  const stop = aborted(link.signal).then(() => 'stop' as const);
  const leave = join(link);
  try {
    await holdSockets(link, { timing, stop });
  } finally {
    leave();
  }
}

async function holdSockets(
  link: Link<Account>,
  { timing, stop }: { readonly timing: SocketTiming; readonly stop: Promise<'stop'> },
): Promise<void> {
  let socket = await open(link, timing);
  let soon = 0;
  try {
    link.online();
    for (;;) {
      const openedAt = performance.now();
      const next = await Promise.race([
        stop,
        socket.leaving.then((reason) => ({ kind: 'leaving', reason }) as const),
        socket.ended.then((reason) => ({ kind: 'ended', reason }) as const),
      ]);
      if (next === 'stop') return;
      if (next.kind === 'ended') throw new Error(next.reason);
      if (next.reason === 'link_disabled')
        throw accountFailed(
          'Socket Mode is off for this app',
          'turn it on (Settings, Socket Mode), then enable the account again',
        );
      soon = performance.now() - openedAt < SOON_MS ? soon + 1 : 0;
      if (soon > MOST_SOON) throw new Error(`Slack keeps closing new connections: ${next.reason}`);
      const old = socket;
      socket = await open(link, timing);
      void old.close();
    }
  } finally {
    await socket.close();
  }
}

/** Opens a socket and waits for Slack's hello. */
async function open(link: Link<Account>, timing: SocketTiming): Promise<SlackSocket> {
  const { appToken, apiUrl } = link.account;
  const { json } = await need(
    appToken === undefined ? link : { account: link.account, signal: link.signal, token: appToken },
    'apps.connections.open',
  );
  const url = textAt(json, 'url') ?? '';
  // The URL is a credential, so it requires TLS unless the configured platform itself uses plain HTTP.
  if (!url.startsWith('wss://') && !(url.startsWith('ws://') && apiUrl.startsWith('http://')))
    throw new Error('apps.connections.open gave no address of a WebSocket');
  const socket = new SlackSocket(url, link, timing);
  const stop = (): void => void socket.close();
  link.signal.addEventListener('abort', stop, { once: true });
  try {
    await socket.ready;
  } finally {
    link.signal.removeEventListener('abort', stop);
  }
  return socket;
}

/** Calls a method whose failure ends the connection. */
async function need(caller: Caller, method: string) {
  const answer = await call(caller, method, {});
  if (answer.kind === 'ok') return answer;
  throw new Error(
    answer.kind === 'later' ? `${method}: Slack asks to wait ${answer.afterMs} ms` : `${method}: ${answer.reason}`,
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
