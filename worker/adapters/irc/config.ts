// Configuration keys of one IRC account, and the protocol limits that apply to them.
//
//   plugins:
//     irc:
//       endpoints:
//         - { id: libera, server: irc.example.net, nick: helper, channels: ['#help'], sasl: { account: helper, password: '${IRC_PASSWORD}' } }
import { t, type Values } from '../../sdk/index.ts';

const CHANNEL = '^[#&+!][^\\s,\\u0007\\u0000]{1,63}$';
const NICK = '^[A-Za-z\\[\\]\\\\`_^{|}][A-Za-z0-9\\[\\]\\\\`_^{|}-]{0,29}$';

export const account = {
  server: t.string({ minLength: 1, maxLength: 253, pattern: '^[^\\s]+$', description: 'Host name or address' }),
  port: t.integer({ default: 6697, minimum: 1, maximum: 65_535 }),
  tls: t.boolean({ default: true, description: 'Off only where the server is on this machine or network' }),
  verifyCertificate: t.boolean({
    default: true,
    description:
      'Off takes any certificate: only with a server of your own. A CA of your own: NODE_EXTRA_CA_CERTS in the environment',
  }),
  nick: t.string({ pattern: NICK }),
  alternateNicks: t.array(t.string({ pattern: NICK }), {
    default: [],
    description: 'Taken in order while nick is in use; then nick with underscores',
  }),
  username: t.string({ default: 'svc', pattern: '^[A-Za-z0-9._-]{1,10}$' }),
  realname: t.string({ default: 'svc', minLength: 1, maxLength: 50, pattern: '^[^\\r\\n\\u0000]+$' }),
  password: t.optional(t.secret({ description: 'Of the server itself (PASS)' })),
  sasl: t.optional(
    t.object(
      { account: t.string({ minLength: 1 }), password: t.secret() },
      { description: 'Without it, or when it fails, the account does not connect' },
    ),
  ),
  nickserv: t.optional(
    t.object(
      {
        service: t.string({
          default: 'NickServ',
          pattern: '^[^\\s:,@!]{1,30}(@[A-Za-z0-9.-]{1,100})?$',
          description: 'Its full address, NickServ@services.example.net, where the network has one',
        }),
        account: t.optional(t.string({ minLength: 1, description: 'Left out: the account of the nick' })),
        password: t.secret(),
      },
      { description: 'For networks without SASL: IDENTIFY before the channels are joined. Prefer sasl' },
    ),
  ),
  channels: t.array(t.string({ pattern: CHANNEL }), { default: [] }),
  channelKeys: t.array(t.object({ channel: t.string({ pattern: CHANNEL }), key: t.secret() }), {
    default: [],
    description: 'Channels that need a key; they need not be in channels as well',
  }),
  burstLines: t.integer({ default: 8, minimum: 1, maximum: 10_000, description: 'Lines that may go out at once' }),
  linesPerSecond: t.number({
    default: 1,
    minimum: 0.1,
    maximum: 10_000,
    description: 'After the burst; the strictest common servers take one',
  }),
};
export type Account = Values<typeof account>;

/** All channels without duplicates. */
export const channelsOf = ({ channels, channelKeys }: Account): readonly string[] => [
  ...new Set([...channels, ...channelKeys.map(({ channel }) => channel)]),
];
