// svc and a bot on the npm package `chat`: the same bot of Telegram by webhook under each, the same load, killed by the same driver at moments
// of the same plan. Telegram sends a delivery again until it is answered 200, and never after.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/free-port.ts';
import type { Cleanup } from '../../support/temporary-project.ts';
import { seeded } from '../crash/kit/random.ts';
import { planKills } from '../platforms/kit/kills.ts';
import { Ledger } from '../platforms/kit/ledger.ts';
import { Lives } from '../platforms/kit/lives.ts';
import { pause } from '../platforms/kit/platform.ts';
import { telegramWebhook } from '../platforms/kit/platforms/telegram.ts';
import { PlatformsRun } from '../platforms/kit/run.ts';
import { ANSWERINGS, type Answering, chatLog, installChatLibrary, startChatBot } from './chat-library.ts';
import { installRedis, startRedis } from './redis.ts';

/** What came of a run; a line is counted in one row at most of the last four. */
interface Outcome {
  readonly kills: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly handledTwice: number;
  readonly shownTwice: number;
  readonly wrongState: number;
}

export interface Comparison {
  readonly folder: string;
  readonly kills: number;
  readonly json: boolean;
  readonly say: (line: string) => void;
}

const SEED = 1;
/** Lines and answers alone: a bot that others make gives no more to them. */
const { extras: _, ...PLAIN } = telegramWebhook;
const NAME_WIDTH = 50;
const CELL_WIDTH = 26;
const ROWS: readonly (readonly [name: string, of: keyof Outcome])[] = [
  ['kills', 'kills'],
  ['deliveries answered 200', 'acknowledged'],
  ['of them lost', 'lost'],
  ['of them handled twice', 'handledTwice'],
  ['of them handled once, the answer shown again', 'shownTwice'],
  ['numbers of the stored count given twice', 'wrongState'],
];

/** False where there was nothing to compare with, or a run failed: what is there of the table is printed all the same. */
export async function comparePlatforms({ folder, kills, json, say }: Comparison): Promise<boolean> {
  let isWhole = true;
  const columns = new Map<string, Outcome>();
  const measure = async (name: string, run: () => Promise<Outcome>): Promise<void> => {
    try {
      columns.set(name, await run());
    } catch (error) {
      isWhole = false;
      console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  await measure('svc', () => svcUnderKills(kills, SEED));
  try {
    const installed = await installChat(folder);
    say(`node ${process.version}, chat ${installed.version}`);
    for (const answering of ANSWERINGS)
      await measure(`chat, ${answering}`, () => chatUnderKills(installed, { kills, seed: SEED, answering }));
  } catch (error) {
    isWhole = false;
    say(`skipped: chat (${error instanceof Error ? error.message : String(error)})`);
  }
  const line = (name: string, cells: readonly (string | number)[]): string =>
    name.padEnd(NAME_WIDTH) + cells.map((cell) => String(cell).padStart(CELL_WIDTH)).join('');
  say(line('the platform is answered', [...columns.keys()]));
  for (const [name, of] of ROWS)
    say(
      line(
        name,
        [...columns.values()].map((outcome) => outcome[of]),
      ),
    );
  if (json) console.log(JSON.stringify({ node: process.version, platforms: Object.fromEntries(columns) }, null, 2));
  return isWhole;
}

const LOCK_LAPSES_MS = 35_000;
/** Without a new answer for so long, none comes any more. */
const QUIET_MS = 10_000;

async function svcUnderKills(kills: number, seed: number): Promise<Outcome> {
  return withCleanup(async (t) => {
    const random = seeded(seed);
    const run = await PlatformsRun.create(t, { platforms: [PLAIN], random });
    await run.begin();
    for (const kill of planKills(kills, [PLAIN], random)) await run.kill(kill);
    const { faults, ledgers } = await run.verdict();
    for (const fault of faults) console.error(`svc: ${fault}`);
    const [ledger] = ledgers;
    if (ledger === undefined) throw new Error('nothing was said');
    return outcomeOf(ledger, kills);
  });
}

interface ChatInstalled {
  readonly chat: string;
  readonly redis: string;
  readonly version: string;
}

/** Throws when it cannot be had. */
async function installChat(folder: string): Promise<ChatInstalled> {
  const [chat, redis] = [join(folder, 'chat'), join(folder, 'redis')];
  for (const one of [chat, redis]) mkdirSync(one);
  const version = `${await installChatLibrary(chat)} with Redis ${await installRedis(redis)}`;
  return { chat, redis, version };
}

async function chatUnderKills(
  { chat, redis }: ChatInstalled,
  { kills, seed, answering }: { readonly kills: number; readonly seed: number; readonly answering: Answering },
): Promise<Outcome> {
  return withCleanup(async (t) => {
    const random = seeded(seed);
    const data = join(redis, `data-${answering.replaceAll(' ', '-')}`);
    mkdirSync(data);
    const store = await startRedis(redis, data);
    t.after(() => store.stop());
    const [port, platform] = [await freePort(), await PLAIN.open(t)];
    const { TELEGRAM_HOOKED: token = '', TELEGRAM_SECRET: secret = '' } = platform.env ?? {};
    const bot = { port, api: String(platform.account?.['apiUrl']), token, secret, redis: store.url, answering };
    const channel = { ledger: new Ledger(PLAIN), platform };
    const lives = new Lives({
      channels: [channel],
      random,
      url: `http://127.0.0.1:${port}`,
      token: '',
      spawn: () => startChatBot(chat, bot),
      log: () => chatLog(chat),
    });
    t.after(() => lives.close());
    await lives.begin();
    for (const kill of planKills(kills, [PLAIN], random)) await lives.kill(kill);
    lives.start();
    await lives.traffic.stop();
    // A lock that a dead process held lapses, and the next line of a conversation takes along what was queued behind it.
    await pause(LOCK_LAPSES_MS);
    for (let n = 1; n <= PLAIN.conversations; n += 1) await lives.traffic.say(channel, n);
    await quiet(channel.ledger);
    return outcomeOf(channel.ledger, kills);
  });
}

async function quiet(ledger: Ledger): Promise<void> {
  for (let before = -1; before !== ledger.answersEver && ledger.unanswered().length > 0; ) {
    before = ledger.answersEver;
    await pause(QUIET_MS);
  }
}

function outcomeOf(ledger: Ledger, kills: number): Outcome {
  const lines = [...ledger.lines.values()].filter(({ fate }) => fate === 'acknowledged');
  const numbersOf = ({ answers }: (typeof lines)[number]): number => new Set(answers.map(({ number }) => number)).size;
  const owners = new Map<string, number>();
  for (const { conversation, answers } of lines)
    for (const number of new Set(answers.map((answer) => answer.number)))
      owners.set(`${conversation} ${number}`, (owners.get(`${conversation} ${number}`) ?? 0) + 1);
  return {
    kills,
    acknowledged: lines.length,
    lost: lines.filter(({ answers }) => answers.length === 0).length,
    handledTwice: lines.filter((line) => numbersOf(line) > 1).length,
    shownTwice: lines.filter((line) => numbersOf(line) === 1 && line.answers.length > 1).length,
    wrongState: [...owners.values()].filter((count) => count > 1).length,
  };
}

async function withCleanup<T>(work: (t: Cleanup) => Promise<T>): Promise<T> {
  const hooks: (() => void | Promise<void>)[] = [];
  try {
    return await work({ after: (hook) => void hooks.push(hook) });
  } finally {
    for (const hook of hooks.toReversed()) await hook();
  }
}
