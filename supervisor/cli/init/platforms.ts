// The platforms that `svc init --adapter` knows: keys of one account, lines of `.env`, and where a person gets what stands there.
import { randomBytes } from 'node:crypto';
import { nearest } from '../../../shared/config/nearest.ts';
import { SvcError } from '../../../shared/svc-error.ts';

export interface Variable {
  readonly name: string;
  /** Where it is from. */
  readonly from: string;
  /** Made here, because both sides only have to agree on it. */
  readonly make?: () => string;
}

export interface Platform {
  /** The built-in adapter. */
  readonly name: string;
  readonly title: string;
  /** YAML of the account, below its id. */
  readonly keys: readonly string[];
  readonly variables: readonly Variable[];
  /** What else has to be done, in order. */
  readonly steps: readonly string[];
}

const PUBLIC_URL = 'set http.publicUrl in svc.config.yml to the address at which the platform reaches this host';
const register = (adapter: string): string => `with the host running: npx svc webhooks register ${adapter}~main`;

export const PLATFORMS: readonly Platform[] = [
  {
    name: 'telegram',
    title: 'Telegram',
    keys: ['token: ${TELEGRAM_TOKEN}'],
    variables: [{ name: 'TELEGRAM_TOKEN', from: 'write /newbot to @BotFather in Telegram; it answers with the token' }],
    steps: [],
  },
  {
    name: 'discord',
    title: 'Discord',
    keys: ['token: ${DISCORD_TOKEN}', 'applicationId: ${DISCORD_APPLICATION_ID}'],
    variables: [
      { name: 'DISCORD_TOKEN', from: 'discord.com/developers, New Application, Bot, Reset Token' },
      { name: 'DISCORD_APPLICATION_ID', from: 'the same application, General Information, Application ID' },
    ],
    steps: [
      'switch on Message Content Intent (Bot)',
      'invite the bot (OAuth2, URL Generator) with the scopes bot and applications.commands',
    ],
  },
  {
    name: 'slack',
    title: 'Slack',
    keys: ['mode: socket # needs no public address', 'token: ${SLACK_TOKEN}', 'appToken: ${SLACK_APP_TOKEN}'],
    variables: [
      { name: 'SLACK_TOKEN', from: 'api.slack.com/apps, OAuth & Permissions, Bot User OAuth Token (xoxb-…)' },
      { name: 'SLACK_APP_TOKEN', from: 'Basic Information, App-Level Tokens, with connections:write (xapp-…)' },
    ],
    steps: [
      'make the app from the manifest in the guide, with socket_mode_enabled: true, and install it in the workspace',
    ],
  },
  {
    name: 'irc',
    title: 'IRC',
    keys: ['server: ${IRC_SERVER}', 'nick: ${IRC_NICK}', "channels: [] # in quotes: ['#help']"],
    variables: [
      { name: 'IRC_SERVER', from: 'the host name of the network, such as irc.libera.chat' },
      { name: 'IRC_NICK', from: 'a nick that nobody has' },
    ],
    steps: ['name the channels in svc.config.yml; a registered nick takes sasl as well'],
  },
  {
    name: 'xmpp',
    title: 'XMPP',
    keys: ['jid: ${XMPP_JID}', 'password: ${XMPP_PASSWORD}', 'rooms: [] # [{ jid: team@rooms.example.org }]'],
    variables: [
      { name: 'XMPP_JID', from: 'make an account at your server: name@domain' },
      { name: 'XMPP_PASSWORD', from: 'the password of that account' },
    ],
    steps: [],
  },
  {
    name: 'line',
    title: 'LINE',
    keys: ['channelAccessToken: ${LINE_TOKEN}', "channelSecrets: ['${LINE_SECRET}']"],
    variables: [
      {
        name: 'LINE_TOKEN',
        from: 'developers.line.biz, the channel, Messaging API, Channel access token (long-lived)',
      },
      { name: 'LINE_SECRET', from: 'the same channel, Basic settings, Channel secret' },
    ],
    steps: [PUBLIC_URL, register('line'), 'switch on Use webhook and Webhook redelivery (Messaging API)'],
  },
  {
    name: 'github',
    title: 'GitHub',
    keys: [
      'login: ${GITHUB_LOGIN}',
      'token: ${GITHUB_TOKEN}',
      "secrets: ['${GITHUB_WEBHOOK_SECRET}']",
      'repositories: [] # [owner/name]',
    ],
    variables: [
      { name: 'GITHUB_LOGIN', from: 'the user of the bot' },
      { name: 'GITHUB_TOKEN', from: 'github.com, as that user: Settings, Developer settings, Personal access tokens' },
      { name: 'GITHUB_WEBHOOK_SECRET', from: 'made by svc init', make: () => randomBytes(32).toString('hex') },
    ],
    steps: [PUBLIC_URL, 'name the repositories in svc.config.yml', register('github')],
  },
  {
    name: 'onebot11',
    title: 'OneBot 11 (QQ)',
    keys: ['url: ws://127.0.0.1:3001', "accessTokens: ['${ONEBOT_TOKEN}']"],
    variables: [
      { name: 'ONEBOT_TOKEN', from: 'the access token that you set at NapCat, LLOneBot, Lagrange or another' },
    ],
    steps: ['turn on the WebSocket server of the implementation, and name its address as url in svc.config.yml'],
  },
  {
    name: 'webhook',
    title: 'Standard Webhooks',
    keys: ['# url: https://shop.example/bot # where answers go', "secrets: ['${WEBHOOK_SECRET}']"],
    variables: [
      {
        name: 'WEBHOOK_SECRET',
        from: 'made by svc init; the other side needs it as well',
        make: () => `whsec_${randomBytes(32).toString('base64')}`,
      },
    ],
    steps: ['with the host running: npx svc webhooks url webhook~main prints where the other side delivers'],
  },
];

/** The platforms of a list like `telegram,discord`. Throws `usage` with the nearest name. */
export function platformsNamed(list: string): readonly Platform[] {
  const names = list.split(',').map((name) => name.trim().toLowerCase());
  return [...new Set(names)].map((name) => {
    const known = PLATFORMS.find((platform) => platform.name === name);
    if (known !== undefined) return known;
    const all = PLATFORMS.map((platform) => platform.name);
    const near = nearest(name, all);
    throw new SvcError('usage', `--adapter takes ${all.join(', ')}, not '${name.slice(0, 60)}'`, {
      hint: near === undefined ? 'svc init --help' : `did you mean ${near}?`,
    });
  });
}

/** Lines below `plugins:`. */
export const platformKeys = ({ name, keys }: Platform): string =>
  [`  ${name}:`, '    endpoints:', '      - id: main', ...keys.map((key) => `        ${key}`)].join('\n');

/** Lines of `.env`. What a person has to get is empty, and a start names it. */
export const platformVariables = ({ title, variables }: Platform): string =>
  variables.map(({ name, from, make }) => `# ${title}: ${from}\n${name}=${make?.() ?? ''}\n`).join('');

/** Lines of `.env.example`: without values. */
export const platformExample = ({ title, variables }: Platform): string =>
  variables.map(({ name, from }) => `# ${title}: ${from}\n${name}=\n`).join('');

/** What the person has to do, in order. */
export const platformSteps = ({ variables, steps }: Platform): readonly string[] => [
  ...variables.filter(({ make }) => make === undefined).map(({ name, from }) => `put ${name} into .env: ${from}`),
  ...steps,
];
