// A bot on the npm package `chat`, with its adapter for Telegram and its state in Redis, as its documentation has it: every message is queued
// in the state while another of its conversation is handled, and none of a queue is left out.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../bench/load/keeper.ts';
import type { LifeEnd } from '../crash/kit/worker-life.ts';
import type { Life } from '../platforms/kit/lives.ts';

const VERSION = '4.41.1';
const PACKAGES = ['chat', '@chat-adapter/telegram', '@chat-adapter/state-redis'].map((name) => `${name}@${VERSION}`);

/** When the platform is answered: at once, or once the handlers that the delivery started have ended. */
export const ANSWERINGS = ['at once', 'after the handlers'] as const;
export type Answering = (typeof ANSWERINGS)[number];

const BOT = `
import { createServer } from 'node:http';
import { createRedisState } from '@chat-adapter/state-redis';
import { createTelegramAdapter } from '@chat-adapter/telegram';
import { Chat } from 'chat';

const { PORT, API, BOT_TOKEN, BOT_SECRET, REDIS, ANSWERING } = process.env;
const telegram = createTelegramAdapter({ botToken: BOT_TOKEN, secretToken: BOT_SECRET, mode: 'webhook', apiUrl: API });
const bot = new Chat({
  userName: 'shop_bot',
  adapters: { telegram },
  state: createRedisState({ url: REDIS }),
  concurrency: { strategy: 'queue', maxQueueSize: 1_000, queueEntryTtlMs: 600_000 },
  logger: 'error',
});
async function answer(thread, { text }) {
  const [, token] = /hello (T[0-9a-z]+X)/.exec(text) ?? [];
  if (token === undefined) return;
  const count = 1 + ((await thread.state)?.count ?? 0);
  await thread.setState({ count });
  await thread.post(token + ' n' + count);
}
bot.onDirectMessage(async (thread, message, _channel, context) => {
  for (const one of [...(context?.skipped ?? []), message]) await answer(thread, one);
});
await bot.initialize();
createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const tasks = [];
  const taken = await bot.webhooks.telegram(
    new Request('http://127.0.0.1' + request.url, { method: 'POST', headers: request.headers, body: Buffer.concat(chunks) }),
    { waitUntil: (task) => tasks.push(task) },
  );
  if (ANSWERING !== 'at once') await Promise.allSettled(tasks);
  response.writeHead(taken.status).end(await taken.text());
}).listen(Number(PORT), '127.0.0.1');
`;

export interface Bot {
  readonly port: number;
  readonly api: string;
  readonly token: string;
  readonly secret: string;
  readonly redis: string;
  readonly answering: Answering;
}

/** Throws when it cannot be had. Gives the version. */
export async function installChatLibrary(folder: string): Promise<string> {
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  await run('npm', ['install', '--prefix', folder, ...quiet, ...PACKAGES]);
  writeFileSync(join(folder, 'bot.mjs'), BOT);
  return VERSION;
}

export const chatLog = (folder: string): string => readFileSync(join(folder, 'bot.log'), 'utf8').slice(-4_000);

export function startChatBot(folder: string, { port, api, token, secret, redis, answering }: Bot): Life {
  const log = openSync(join(folder, 'bot.log'), 'a');
  const child: ChildProcess = spawn(process.execPath, [join(folder, 'bot.mjs')], {
    stdio: ['ignore', log, log],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      PORT: String(port),
      API: api,
      BOT_TOKEN: token,
      BOT_SECRET: secret,
      REDIS: redis,
      ANSWERING: answering,
    },
  });
  closeSync(log);
  let end: LifeEnd | undefined;
  const ended = new Promise<LifeEnd>((resolve) => {
    child.once('exit', (code, signal) => resolve((end = { code, signal })));
  });
  const killed = (signal: NodeJS.Signals) => (): Promise<LifeEnd> => {
    child.kill(signal);
    return ended;
  };
  return {
    ended,
    get end() {
      return end;
    },
    kill: killed('SIGKILL'),
    stop: killed('SIGTERM'),
  };
}
