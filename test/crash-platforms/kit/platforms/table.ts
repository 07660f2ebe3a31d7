// Every platform of the run: one line each.
import type { Platform } from '../platform.ts';
import { github } from './github.ts';
import { irc } from './irc.ts';
import { line } from './line.ts';
import { sandbox } from './sandbox.ts';
import { slackEvents, slackSocket } from './slack.ts';
import { telegramPolling, telegramWebhook } from './telegram.ts';
import { webhook } from './webhook.ts';

export const PLATFORMS: readonly Platform[] = [
  github,
  irc,
  line,
  sandbox,
  slackEvents,
  slackSocket,
  telegramPolling,
  telegramWebhook,
  webhook,
];
