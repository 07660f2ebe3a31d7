// A bot on Koishi with its adapter for OneBot, which nobody here wrote: over HTTP both ways, or at a WebSocket that the implementation opens.
import { createRequire } from 'node:module';
import type * as Http from '@koishijs/plugin-http';
import type * as Served from '@koishijs/plugin-server';
import type * as Koishi from 'koishi';
import type { Context, Session } from 'koishi';
import type * as OneBot from 'koishi-plugin-adapter-onebot';
import { freePort } from '../free-port.ts';
import type { Cleanup } from '../temporary-project.ts';
import { until } from '../until.ts';

/** So long it keeps the process for each call, answered or not. */
const ANSWER_MS = 10_000;
const ONLINE = 1;
const UNPARSED = Symbol.for('unparsedBody');

export type KoishiWay =
  | { readonly protocol: 'http'; readonly endpoint: string; readonly token: string; readonly secret: string }
  | { readonly protocol: 'ws-reverse' };

export interface KoishiBot {
  readonly bot: OneBot.OneBotBot<Context>;
  /** Where it takes deliveries, or a WebSocket. */
  readonly url: string;
  /** Sessions in their order, by what they are. */
  readonly heard: readonly Session[];
  isOnline(): boolean;
}

export async function koishiBot(t: Cleanup, self: number, way: KoishiWay): Promise<KoishiBot> {
  // Imported as modules they fail: a part of Koishi's is made for `require` alone.
  const require = createRequire(import.meta.url);
  const koishi = require('koishi') as typeof Koishi;
  const http = require('@koishijs/plugin-http') as typeof Http;
  const served = require('@koishijs/plugin-server') as typeof Served;
  const oneBot = require('koishi-plugin-adapter-onebot') as typeof OneBot;
  const port = await freePort();
  koishi.Logger.levels.base = 0;
  const app = new koishi.Context();
  const heard: Session[] = [];
  const parts = [
    app.plugin(http.HTTP),
    app.plugin(served.Server, { host: '127.0.0.1', port }),
    app.inject(['server'], ({ server }) => keepRawBody(server)),
    app.plugin(oneBot.OneBotBot, { selfId: String(self), path: '/onebot', responseTimeout: ANSWER_MS, ...way }),
  ];
  app.on('internal/session', (session) => void (isEvent(session) && heard.push(session)));
  await app.start();
  // In their order: all at once they take each other's ground away, and say so loudly.
  t.after(() => parts.toReversed().forEach((part) => part.dispose()));
  const bot = (await until(() => app.bots[0], { what: 'the bot of Koishi' })) as unknown as OneBot.OneBotBot<Context>;
  const isOnline = (): boolean => Number(bot.status) === ONLINE;
  return { bot, url: `http://127.0.0.1:${port}/onebot`, heard, isOnline };
}

/** What was told, by its type: messages come a little later than others. */
export const seenIn = (heard: readonly Session[]): readonly (readonly unknown[])[] =>
  heard
    .map(({ type, channelId, userId, content }) => [type, channelId, userId, content] as const)
    .toSorted(([a], [b]) => a.localeCompare(b));

/** Not what the framework says of itself. */
const isEvent = ({ type }: Session): boolean => !/^(?:internal|login|before)/.test(type);

/** The adapter verifies the raw body, and looks for it where an older server of Koishi's has put it. */
function keepRawBody({ _koa: { request } }: Served.Server): void {
  Object.defineProperty(request, 'rawBody', {
    get(this: { readonly body?: { readonly [UNPARSED]?: string } }) {
      return this.body?.[UNPARSED];
    },
  });
}
