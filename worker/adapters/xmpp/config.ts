// Configuration of one XMPP account and the rules for its values.
//
//   plugins:
//     xmpp:
//       endpoints:
//         - { id: main, jid: helper@example.org, password: '${XMPP_PASSWORD}', rooms: [{ jid: team@rooms.example.org }] }
import { t, type Values } from '../../sdk/index.ts';
import { isLoopbackHost } from '../../sdk/platform/public-address.ts';

const BARE_JID = '^[^@/\\s"&\'<>:]{1,255}@[^@/\\s]{1,255}$';
const HOST = '^[^\\s/@]{1,253}$';

export const account = {
  jid: t.string({ pattern: BARE_JID, description: 'Of the account, name@domain' }),
  password: t.secret(),
  host: t.optional(
    t.string({
      pattern: HOST,
      description: 'Where the server is, if the DNS (SRV records) does not say it or is not to be asked',
    }),
  ),
  port: t.optional(t.integer({ minimum: 1, maximum: 65_535, description: 'Default 5222, with tls: direct 5223' })),
  tls: t.enum(['starttls', 'direct', 'none'], {
    default: 'starttls',
    description: 'none only where the server is on a loopback address',
  }),
  verifyCertificate: t.boolean({
    default: true,
    description:
      'Off takes any certificate: only with a server of your own. A CA of your own: NODE_EXTRA_CA_CERTS in the environment',
  }),
  resource: t.string({
    default: 'svc',
    minLength: 1,
    maxLength: 100,
    pattern: '^[^\\p{Cc}]+$',
    description: 'Of this connection; another client of the account needs another one',
  }),
  nick: t.optional(
    t.string({ minLength: 1, maxLength: 64, description: 'In rooms. Default: the part of jid before the @' }),
  ),
  rooms: t.array(
    t.object({
      jid: t.string({ pattern: BARE_JID }),
      nick: t.optional(t.string({ minLength: 1, maxLength: 64 })),
      password: t.optional(t.secret()),
    }),
    { default: [], maxItems: 200, description: 'Rooms that the account joins' },
  ),
  fileHosts: t.array(t.string({ pattern: HOST }), {
    default: [],
    maxItems: 50,
    description: 'Hosts of files that may have a private address or speak plain HTTP: a file server of your own',
  }),
  maxFileBytes: t.integer({
    default: 25_000_000,
    minimum: 1_000,
    maximum: 1_000_000_000,
    description: 'Larger files that come in are not fetched',
  }),
};
export type Account = Values<typeof account>;
export type Room = Account['rooms'][number];

export interface Fault {
  readonly reason: string;
  readonly remedy: string;
}

/** Reason why this account cannot work at all, with its remedy. */
export function accountFault(of: Account): Fault | undefined {
  if (of.tls === 'none' && !isLoopbackHost(of.host ?? domainOf(of)))
    return {
      reason: 'tls: none would send all that is said over the network in the clear',
      remedy: 'take tls: starttls or direct, or a host on a loopback address, and reload',
    };
  return undefined;
}

export const domainOf = ({ jid }: Pick<Account, 'jid'>): string => jid.slice(jid.indexOf('@') + 1).toLowerCase();
export const localOf = ({ jid }: Pick<Account, 'jid'>): string => jid.slice(0, jid.indexOf('@'));

/** Address without resource, in lower case as servers compare it. */
export const bareJidOf = (of: Pick<Account, 'jid'>): string => of.jid.toLowerCase();

/** The preferred nick in a room. */
export const nickOf = (of: Account, room: Pick<Room, 'nick'>): string => room.nick ?? of.nick ?? localOf(of);
