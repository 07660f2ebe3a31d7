// Discord, over the gateway and by interactions. The gateway repeats to a session what it has not heard, and channels keep their messages:
// nothing that was said may be lost. A nonce is the key of a send, under which a repeat shows nothing new.
import { FakeDiscord } from '../../../support/fake-platforms/discord.ts';
import type { Cleanup } from '../../../support/temporary-project.ts';
import { grown, isOnline, type OpenPlatform, type Platform, push, writtenWhen } from '../platform.ts';

const COMMON = { repeats: 'key', mostOwed: 12, conversations: 6 } as const;
const channelOf = (n: number): string => String(645_027_906_669_511_000n + BigInt(n));

export const discordGateway: Platform = {
  ...COMMON,
  name: 'discord, gateway',
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
      async deliver({ text, conversation }, to) {
        await writtenWhen(async () => (wasOnline ||= await isOnline('discord~main', to)), to);
        discord.says(text, { channel: channelOf(conversation) });
        return 'kept';
      },
      answers: answersOf(discord),
    };
  },
};

export const discordInteractions: Platform = {
  ...COMMON,
  name: 'discord, interactions',
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
      deliver({ token, conversation }, to) {
        const id = channelOf(conversation);
        const data = { id: '1', name: 'count', type: 1, options: [{ name: 'token', type: 3, value: token }] };
        const channel = { channel_id: id, channel: { id, name: 'general', type: 0 } };
        const body = JSON.stringify(discord.interaction(data, channel));
        const make = () => ({
          path: '/webhooks/discord/shop',
          headers: { 'content-type': 'application/json', ...discord.signed(body) },
          body,
        });
        return push(make, to);
      },
      answers: answersOf(discord),
    };
  },
};

async function server(t: Cleanup): Promise<FakeDiscord> {
  const discord = await FakeDiscord.start(t);
  for (let n = 1; n <= COMMON.conversations; n += 1) discord.world.addChannel(channelOf(n));
  return discord;
}

const answersOf = ({ world }: FakeDiscord): ((from: number) => readonly string[]) =>
  grown(
    () => world.messages.length,
    () => world.said(),
  );
