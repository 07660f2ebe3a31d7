// Consequence of an error from the library, the stream or a stanza. Pure.
//
//   XMPP-FAILURES-1  An error that a new attempt would meet again fails the account, without retries:
//                    wrong credentials, another client with the resource, an unknown domain. Any other error is a lost connection.
//   XMPP-FAILURES-2  A temporary error of a send (rate limit, unreachable server) is `later`. Any other is `refused`.
import type { XmlElement } from '@xmpp/client';
import { accountFailed, type SendResult } from '../../sdk/index.ts';
import { socketReason } from '../../sdk/platform/socket-reason.ts';
import { faultIn, type StanzaFault } from './stanza.ts';

const CREDENTIALS = new Set([
  'not-authorized',
  'invalid-authzid',
  'account-disabled',
  'credentials-expired',
  'mechanism-too-weak',
  'invalid-mechanism',
  'encryption-required',
]);
const WAIT_MS = 30_000;

/** The error to throw for a failed login or an error of the stream. */
export function connectionError(error: unknown): Error {
  const { condition, name } = (error ?? {}) as { readonly condition?: string; readonly name?: string };
  const cause = error instanceof Error ? error : new Error(String(error));
  if (name === 'SASLError') {
    if (condition?.startsWith('SASL: ') === true)
      return accountFailed(
        'the server offers no way to log in that this client takes (SCRAM-SHA-1, or PLAIN over TLS)',
        'allow one of them on the server, then: svc endpoints reconnect',
      );
    if (condition !== undefined && CREDENTIALS.has(condition))
      return accountFailed(
        `the server refused the login: ${condition}`,
        'correct jid, or password in .env, and reload; or put it right on the server, then: svc endpoints reconnect',
      );
    return new Error(`the server refused the login for now: ${condition}`, { cause });
  }
  if (name === 'StreamError') {
    if (condition === 'conflict')
      return accountFailed(
        'another client of this account took over with the same resource',
        'give each client of the account a resource of its own, then: svc endpoints reconnect',
      );
    if (condition === 'host-unknown' || condition === 'host-gone') return unknownHost();
    if (condition === 'not-authorized')
      return accountFailed(
        'the server ended the session: not-authorized',
        'correct jid, or password in .env, and reload; or put it right on the server, then: svc endpoints reconnect',
      );
    if (condition === 'see-other-host')
      return new Error(`the server sends this account to another host: ${otherHost(error)}: set host and port to it`, {
        cause,
      });
    return new Error(`the server ended the stream: ${condition}`, { cause });
  }
  if (name === 'StanzaError' && condition === 'conflict')
    return accountFailed(
      'the resource is in use by another client of this account',
      'give each client of the account a resource of its own, then: svc endpoints reconnect',
    );
  if (cause.message.includes('host-unknown')) return unknownHost();
  return new Error(`connection lost: ${socketReason(cause) || cause.name}`, { cause });
}

const unknownHost = (): Error =>
  accountFailed(
    'the server does not serve the domain of the account',
    'correct jid or host in svc.config.yml and reload',
  );

/** The host is shown but not followed, because nobody has configured it. */
function otherHost(error: unknown): string {
  const { element } = error as { readonly element?: XmlElement };
  const host = element?.getChildText('see-other-host')?.trim() ?? '';
  return /^[\w.:[\]-]{1,300}$/.test(host) ? host : 'one without a name';
}

/** The address exists no more. */
const GONE: ReadonlySet<string> = new Set(['gone', 'item-not-found']);

/** `later` for a temporary error, else `refused`. */
export function sendFault({ condition, text, type }: StanzaFault): SendResult {
  const reason = `XMPP: ${condition}${text === '' ? '' : ` (${text})`}`;
  const isPassing = ['resource-constraint', 'policy-violation'].includes(condition) && type === 'wait';
  return isPassing || condition === 'remote-server-timeout'
    ? { kind: 'later', afterMs: WAIT_MS }
    : { kind: 'refused', reason, ...(GONE.has(condition) ? { gone: true } : {}) };
}

/** The fault in a service's error answer. Undefined for any other failure. */
export function faultOfError(error: unknown): StanzaFault | undefined {
  const { name, element } = (error ?? {}) as { readonly name?: string; readonly element?: XmlElement };
  return name === 'StanzaError' && element !== undefined ? faultIn(element) : undefined;
}
