// Keys of one Discord account: one application with its bot.
//
//   plugins:
//     discord:
//       endpoints:
//         - id: main                              # over the gateway: needs no public address
//           token: ${DISCORD_TOKEN}               # Developer Portal → Bot → Reset Token
//           applicationId: '845027738276462632'   # General Information
//         - id: shop                              # commands and buttons alone, over HTTP; then: svc webhooks register discord~shop
//           mode: interactions
//           token: ${SHOP_TOKEN}
//           applicationId: '786008729715212338'
//           publicKeys: ['<64 hexadecimal digits>']   # General Information; two while one is renewed
import { t, type Values } from '../../sdk/index.ts';

/** Gateway intents and their bits. */
const INTENTS = {
  GUILDS: 1 << 0,
  GUILD_MEMBERS: 1 << 1,
  GUILD_MODERATION: 1 << 2,
  GUILD_EXPRESSIONS: 1 << 3,
  GUILD_INTEGRATIONS: 1 << 4,
  GUILD_WEBHOOKS: 1 << 5,
  GUILD_INVITES: 1 << 6,
  GUILD_VOICE_STATES: 1 << 7,
  GUILD_PRESENCES: 1 << 8,
  GUILD_MESSAGES: 1 << 9,
  GUILD_MESSAGE_REACTIONS: 1 << 10,
  GUILD_MESSAGE_TYPING: 1 << 11,
  DIRECT_MESSAGES: 1 << 12,
  DIRECT_MESSAGE_REACTIONS: 1 << 13,
  DIRECT_MESSAGE_TYPING: 1 << 14,
  MESSAGE_CONTENT: 1 << 15,
  GUILD_SCHEDULED_EVENTS: 1 << 16,
  AUTO_MODERATION_CONFIGURATION: 1 << 20,
  AUTO_MODERATION_EXECUTION: 1 << 21,
  GUILD_MESSAGE_POLLS: 1 << 24,
  DIRECT_MESSAGE_POLLS: 1 << 25,
} as const;

type Intent = keyof typeof INTENTS;
const NAMES = Object.keys(INTENTS) as [Intent, ...Intent[]];
const DEFAULT_INTENTS: readonly Intent[] = [
  'GUILDS',
  'GUILD_MESSAGES',
  'GUILD_MESSAGE_REACTIONS',
  'DIRECT_MESSAGES',
  'DIRECT_MESSAGE_REACTIONS',
  'MESSAGE_CONTENT',
];

export const account = {
  token: t.secret({ description: 'Of the bot, without "Bot " in front: Developer Portal, Bot, Reset Token' }),
  applicationId: t.string({
    pattern: '^[1-9]\\d{14,20}$',
    description: 'Application ID, in quotes: Developer Portal, General Information',
  }),
  mode: t.enum(['gateway', 'interactions', 'both'], {
    default: 'gateway',
    description:
      'gateway: everything over a WebSocket that we open. interactions: commands and buttons alone, to our address. both: messages over the gateway, commands and buttons to our address',
  }),
  publicKeys: t.array(t.string({ pattern: '^[0-9a-fA-F]{64}$' }), {
    default: [],
    maxItems: 8,
    description:
      'Public keys of the application, needed for interactions; each one verifies, so that one can be renewed',
  }),
  intents: t.array(t.enum(NAMES), {
    default: [...DEFAULT_INTENTS],
    description:
      'What the gateway is to tell. MESSAGE_CONTENT, GUILD_MEMBERS and GUILD_PRESENCES must be switched on in the Developer Portal (Bot)',
  }),
  events: t.array(t.string({ pattern: '^[A-Z_]{3,64}$' }), {
    default: [],
    description: 'Gateway events that are handed to plugins as they come (`other`), such as GUILD_MEMBER_ADD',
  }),
  bots: t.boolean({
    default: false,
    description: 'Whether what other bots and webhooks say is taken: two bots that answer each other never end',
  }),
  apiUrl: t.string({
    default: 'https://discord.com/api',
    maxLength: 300,
    pattern: '^https?://[^\\s?#@]*[^\\s?#@/]$',
    description: 'Address of the API without its version; another one only for a proxy or a test',
  }),
};
export type Account = Values<typeof account>;

export const takesInteractions = ({ mode }: Pick<Account, 'mode'>): boolean => mode !== 'gateway';
export const opensGateway = ({ mode }: Pick<Account, 'mode'>): boolean => mode !== 'interactions';

export const intentBits = ({ intents }: Pick<Account, 'intents'>): number =>
  intents.reduce((bits, name) => bits | INTENTS[name], 0);

/** The reason and remedy if the configuration itself keeps the account from working. Never quotes a secret. */
export function accountFault(of: Account): { readonly reason: string; readonly remedy: string } | undefined {
  if (!/^[\w.-]{20,200}$/.test(of.token.reveal()))
    return {
      reason: 'token is not one of a bot',
      remedy: 'copy it without "Bot " from the Developer Portal (Bot, Reset Token) into .env and reload',
    };
  if (takesInteractions(of) && of.publicKeys.length === 0)
    return {
      reason: `mode ${of.mode} needs the public key of the application`,
      remedy: 'add publicKeys: (Developer Portal, General Information) in svc.config.yml and reload',
    };
  return undefined;
}
