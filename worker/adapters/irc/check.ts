// Tests an account for `svc doctor --endpoint`. The check registers as the host does, with the same password, SASL account and service.
// The check joins no channel and quits. Beside a running host this is a second connection under another nick.
import { randomUUID } from 'node:crypto';
import { TLSSocket } from 'node:tls';
import type { Client, IrcLine } from 'irc-framework';
import type { CheckResult, CheckTools } from '../../sdk/index.ts';
import { type Account, channelsOf } from './config.ts';
import { IrcSession } from './connection/session.ts';
import type { SessionTiming } from './connection/timing.ts';

const WEEK_MS = 7 * 86_400_000;

export async function* check(account: Account, tools: CheckTools, timing: SessionTiming): AsyncGenerator<CheckResult> {
  const { Client } = await import('irc-framework');
  const client = new Client();
  const leave = new AbortController();
  const found: CheckResult[] = [];
  let compared: Promise<CheckResult> | undefined;
  client.connection.on('message', ({ tags }: IrcLine) => {
    const time = Date.parse(tags['time'] ?? '');
    if (!Number.isNaN(time)) compared = tools.clock(new Date(time));
  });
  const session = new IrcSession({
    client,
    timing,
    epoch: randomUUID(),
    link: {
      account: { ...account, channels: [], channelKeys: [] },
      signal: AbortSignal.any([tools.signal, leave.signal]),
      log: tools.log,
      cursor: undefined,
      receive: async () => {}, // greetings only, which a running host receives as well
      online() {
        found.push(...loginChecks(client, account));
        leave.abort();
      },
      degraded() {}, // the check joins no channels and has no cursor, so nothing can be missing
    },
  });
  await session.run();
  yield* found;
  if (found.length === 0) return yield { name: 'login', status: 'error', detail: session.reached };
  yield (await compared) ?? {
    name: 'clock',
    status: 'skip',
    detail: 'not compared: the server tells no time (server-time)',
  };
  const channels = channelsOf(account).length;
  if (channels > 0) yield { name: 'channels', status: 'skip', detail: `${channels} not joined: people would see it` };
}

function loginChecks({ user, connection }: Client, account: Account): CheckResult[] {
  const { nick, sasl, nickserv, password } = account;
  const ways = [
    ...(password === undefined ? [] : ['the password of the server']),
    ...(sasl === undefined ? [] : ['SASL']),
    ...(nickserv === undefined || (user.nick !== nick && nickserv.account === undefined) ? [] : [nickserv.service]),
  ];
  return [
    {
      name: 'login',
      status: 'ok',
      detail: ways.length === 0 ? 'registered, without a login' : `registered, with ${ways.join(' and ')}`,
    },
    user.nick.toLowerCase() === nick.toLowerCase()
      ? { name: 'nick', status: 'ok', detail: nick }
      : {
          name: 'nick',
          status: 'warn',
          detail: `${nick} is in use, ${user.nick} was taken`,
          remedy: 'if it is not this host that wears it: choose another nick, or take it back from who does',
        },
    encryptionCheck(connection.transport?.socket, account),
  ];
}

function encryptionCheck(socket: unknown, { server, verifyCertificate }: Account): CheckResult {
  if (!(socket instanceof TLSSocket))
    return { name: 'tls', status: 'warn', detail: `${server} is spoken to in the clear`, remedy: 'tls: true' };
  const endsAt = Date.parse(socket.getPeerCertificate().valid_to);
  const ends = Number.isNaN(endsAt) ? '' : `, its certificate ends at ${new Date(endsAt).toISOString()}`;
  const isGood = verifyCertificate && !(endsAt - Date.now() < WEEK_MS);
  return {
    name: 'tls',
    status: isGood ? 'ok' : 'warn',
    detail: `${socket.getProtocol() ?? 'TLS'}${ends}${verifyCertificate ? '' : '; any certificate is taken'}`,
    ...(verifyCertificate ? {} : { remedy: 'verifyCertificate: true; a CA of your own: NODE_EXTRA_CA_CERTS' }),
  };
}
