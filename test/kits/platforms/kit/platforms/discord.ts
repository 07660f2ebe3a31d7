// Discord, over the gateway and by interactions. The gateway repeats to a session what it has not heard, and channels keep their messages:
// nothing that was said may be lost. A nonce is the key of a send, under which a repeat shows nothing new.

import type { FakeAttachment } from '../../../../support/fake-platforms/discord/world.ts';
import { FakeDiscord } from '../../../../support/fake-platforms/discord.ts';
import type { Cleanup } from '../../../../support/temporary-project.ts';
import type { Shown } from '../extras.ts';
import {
  grown,
  isOnline,
  type OpenPlatform,
  type Platform,
  push,
  type SignedRequest,
  slows,
  writtenWhen,
} from '../platform.ts';

const COMMON = { repeats: 'key', mostOwed: 12, conversations: 6 } as const;
const ACCOUNT = '/webhooks/discord/shop';
const SHOWS = /^POST .*\/messages$/;
const channelOf = (n: number): string => String(645_027_906_669_511_000n + BigInt(n));

export const discordGateway: Platform = {
  ...COMMON,
  name: 'discord, gateway',
  extras: ['edited', 'split', 'file', 'reacted', 'given'],
  async open(t): Promise<OpenPlatform> {
    const discord = await server(t);
    // What was said before the bot was there for the first time is not for it.
    let wasOnline = false;
    return {
      slot: 'discord',
      account: {
        id: 'main',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        token: '${DISCORD_MAIN}',
        applicationId: discord.world.application,
        apiUrl: discord.apiUrl,
      },
      env: { DISCORD_MAIN: discord.token },
      async deliver({ token, text, conversation, extra }, to) {
        await writtenWhen(async () => (wasOnline ||= await isOnline('discord~main', to)), to);
        const channel = channelOf(conversation);
        if (extra === 'given') discord.says('', { channel, attachments: [attachmentOf(discord, token, text)] });
        else discord.says(text, { channel });
        return 'kept';
      },
      answers: answersOf(discord),
      slowed: slows(discord, SHOWS),
      reachedAt(front) {
        discord.front = front;
      },
      shown: shownBy(discord),
    };
  },
};

export const discordInteractions: Platform = {
  ...COMMON,
  name: 'discord, interactions',
  extras: ['edited', 'split', 'file', 'button', 'reacted'],
  async open(t): Promise<OpenPlatform> {
    const discord = await server(t);
    return {
      slot: 'discord',
      account: {
        id: 'shop',
        mode: 'interactions',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
        token: '${DISCORD_SHOP}',
        applicationId: discord.world.application,
        publicKeys: [discord.publicKey],
        apiUrl: discord.apiUrl,
      },
      env: { DISCORD_SHOP: discord.token },
      deliver({ token, conversation, extra }, to) {
        const id = channelOf(conversation);
        const options = Object.entries({ token, extra }).flatMap(([name, value]) =>
          value === undefined ? [] : [{ name, type: 3, value }],
        );
        const data = { id: '1', name: 'count', type: 1, options };
        const channel = { channel_id: id, channel: { id, name: 'general', type: 0 } };
        const body = JSON.stringify(discord.interaction(data, channel));
        return push(() => signed(discord, body), to);
      },
      press({ token }, to) {
        const { world } = discord;
        const message = world.messages.find(({ content }) => content.startsWith(`${token} `));
        const custom_id = /"custom_id":"([^"]+)"/.exec(JSON.stringify(message?.components))?.[1];
        if (message === undefined || custom_id === undefined) throw new Error('its answer has no button');
        const { channel_id } = message;
        const channel = { channel_id, channel: { id: channel_id, name: 'general', type: 0 } };
        const more = { type: 3, ...channel, message: world.shown(message, discord.url) };
        const body = JSON.stringify(discord.interaction({ component_type: 2, custom_id }, more));
        return push(() => signed(discord, body), to);
      },
      answers: answersOf(discord),
      slowed: slows(discord, SHOWS),
      shown: shownBy(discord),
    };
  },
};

async function server(t: Cleanup): Promise<FakeDiscord> {
  const discord = await FakeDiscord.start(t);
  for (let n = 1; n <= COMMON.conversations; n += 1) discord.world.addChannel(channelOf(n));
  return discord;
}

const signed = (discord: FakeDiscord, body: string): SignedRequest => ({
  path: ACCOUNT,
  headers: { 'content-type': 'application/json', ...discord.signed(body) },
  body,
});

const attachmentOf = ({ world }: FakeDiscord, token: string, text: string): FakeAttachment => ({
  id: world.snowflake(),
  filename: `${token}.txt`,
  content_type: 'text/plain',
  bytes: Buffer.from(text),
});

const shownBy =
  ({ world }: FakeDiscord): (() => readonly Shown[]) =>
  () =>
    world.messages
      .filter(({ author }) => author.id === world.bot.id)
      .map(({ content: text, attachments, reactions }) => ({
        text,
        files: attachments.map(({ bytes }) => bytes.toString()),
        reactions,
      }));

const answersOf = ({ world }: FakeDiscord): ((from: number) => readonly string[]) =>
  grown(
    () => world.messages.length,
    () => world.said(),
  );
