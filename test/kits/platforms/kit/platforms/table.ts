// Every platform of the run: one line each.
import type { Platform } from '../platform.ts';
import { discordGateway, discordInteractions } from './discord.ts';
import { github } from './github.ts';
import { irc } from './irc.ts';
import { line } from './line.ts';
import { onebot11Http, onebot11Reverse, onebot11Socket } from './onebot11.ts';
import { sandbox } from './sandbox.ts';
import { slackEvents, slackSocket } from './slack.ts';
import { telegramPolling, telegramWebhook } from './telegram.ts';
import { webhook } from './webhook.ts';
import { xmpp } from './xmpp.ts';

const ALL: readonly Platform[] = [
  discordGateway,
  discordInteractions,
  github,
  irc,
  line,
  onebot11Http,
  onebot11Socket,
  onebot11Reverse,
  sandbox,
  slackEvents,
  slackSocket,
  telegramPolling,
  telegramWebhook,
  webhook,
  xmpp,
];

/** Those that can be had here. What is missing is said. */
export function platformsHere(): readonly Platform[] {
  return ALL.filter(({ name, missing }) => {
    const why = missing?.() ?? false;
    if (why !== false) console.log(`skipped: ${name} (${why})`);
    return why === false;
  });
}
