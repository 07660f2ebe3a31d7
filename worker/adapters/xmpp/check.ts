// Checks of an XMPP account for `svc doctor --endpoint`: logs in with a separate resource and asks for the abilities of server and rooms.
// The check sends no presence. The login therefore stays invisible, gets no waiting messages and joins no room.
import { randomBytes } from 'node:crypto';
import type { XmlElement } from '@xmpp/client';
import type { CheckResult, CheckTools } from '../../sdk/index.ts';
import { type Account, accountFault, bareJidOf, domainOf } from './config.ts';
import { makeClient, type OpenClient } from './connection/client.ts';
import { featuresOf, infoOf } from './connection/disco.ts';
import { connectionError } from './failures.ts';
import { NS } from './stanza.ts';

const REQUEST_MS = 5_000;

export async function* check(account: Account, { signal }: CheckTools): AsyncGenerator<CheckResult> {
  const fault = accountFault(account);
  if (fault !== undefined)
    return yield { name: 'settings', status: 'error', detail: fault.reason, remedy: fault.remedy };
  // With the account's own resource the server would end the running host's session.
  const resource = `check-${randomBytes(6).toString('hex')}`;
  const client = await makeClient({ ...account, resource }, 0, undefined);
  const { entity } = client;
  const leave = (): void => client.socket()?.destroy();
  signal.addEventListener('abort', leave, { once: true });
  try {
    await loggedIn(client, account);
    yield { name: 'login', status: 'ok', detail: `as ${bareJidOf(account)}` };
    yield encryptionCheck(client, account);
    yield* serverChecks(client, account);
    await entity.write('</stream:stream>').catch(() => {});
  } finally {
    signal.removeEventListener('abort', leave);
    entity.emit('disconnect'); // the library ends its timers
    entity.removeAllListeners();
    entity.on('error', () => {}); // late errors of the library
    client.socket()?.end();
    leave();
  }
}

/** Resolves at the login. Throws the same errors as the host's connection. */
async function loggedIn({ entity }: OpenClient, account: Account): Promise<void> {
  const session = new Promise<void>((resolve, reject) => {
    entity.on('online', () => resolve());
    entity.on('error', reject);
    entity.on('disconnect', () => reject(new Error('the server ended the connection')));
  });
  session.catch(() => {}); // an error may come before the promise is awaited
  try {
    await entity.connect('xmpp://server');
    await entity.open({ domain: domainOf(account) });
    await session;
  } catch (error) {
    throw connectionError(error);
  }
}

function encryptionCheck(client: OpenClient, { verifyCertificate }: Account): CheckResult {
  if (client.socket()?.secure !== true)
    return { name: 'tls', status: 'warn', detail: 'spoken to in the clear, on this machine', remedy: 'tls: starttls' };
  return verifyCertificate
    ? { name: 'tls', status: 'ok', detail: 'encrypted, the certificate is of the domain' }
    : {
        name: 'tls',
        status: 'warn',
        detail: 'encrypted, any certificate is taken',
        remedy: 'verifyCertificate: true; a CA of your own: NODE_EXTRA_CA_CERTS',
      };
}

async function* serverChecks({ entity, xml }: OpenClient, account: Account): AsyncGenerator<CheckResult> {
  const asking = { xml, request: (iq: XmlElement) => entity.iqCaller.request(iq, REQUEST_MS) };
  const features = await featuresOf(asking, bareJidOf(account));
  yield features.has(NS.mam)
    ? { name: 'archive', status: 'ok', detail: 'the server keeps an archive (XEP-0313)' }
    : {
        name: 'archive',
        status: 'warn',
        detail: 'the server keeps no archive (XEP-0313): after an outage only what it held back comes',
        remedy: 'switch it on at the server (Prosody: mam)',
      };
  // Stream management begins only after the login.
  yield entity.streamManagement.enabled
    ? { name: 'acknowledgements', status: 'ok', detail: 'the server acknowledges and resumes (XEP-0198)' }
    : {
        name: 'acknowledgements',
        status: 'warn',
        detail: 'the server acknowledges nothing (XEP-0198): what is on its way when a connection breaks may be lost',
        remedy: 'switch it on at the server (Prosody: smacks)',
      };
  for (const { jid } of account.rooms) yield roomCheck(jid, await infoOf(asking, jid));
}

function roomCheck(jid: string, info: XmlElement | undefined): CheckResult {
  if (info === undefined)
    return { name: 'room', status: 'skip', detail: `${jid} is not there yet, or does not tell: it is made by joining` };
  const features = new Set(info.getChildren('feature').map(({ attrs }) => attrs['var']));
  if (!features.has(NS.muc))
    return { name: 'room', status: 'error', detail: `${jid} is no room`, remedy: 'correct rooms in svc.config.yml' };
  const closed = [
    ...(features.has('muc_membersonly') ? ['for members only'] : []),
    ...(features.has('muc_passwordprotected') ? ['with a password'] : []),
  ];
  return {
    name: 'room',
    status: 'ok',
    detail: [`${jid} is there`, ...closed, features.has(NS.mam) ? 'with an archive' : 'without an archive'].join(', '),
  };
}
