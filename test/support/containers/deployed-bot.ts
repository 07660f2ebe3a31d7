// A project made by the first commands of the guide to containers, and requests to its host from within the engine's network.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { guideLines } from '../deploy/guide-blocks.ts';
import { wordsOf } from '../guide-commands.ts';
import { CLI } from '../process/built-svc.ts';
import type { Engine } from './engine.ts';

/** Blocks its loop for ever once the file `data/block` is there. */
const BLOCKER = `import { existsSync, rmSync } from 'node:fs';
import { definePlugin } from 'svc';
export default definePlugin({
  name: 'blocker',
  setup() {
    let looks = 0; // turns of a host that is up: its other thread begins to look after it in one of them
    setInterval(() => {
      if (!existsSync('data/block') || (looks += 1) < 40) return;
      rmSync('data/block');
      for (let n = 0; n >= 0; n += 1) Math.sqrt(n);
    }, 50).unref();
  },
});
`;

export interface BotProject {
  readonly path: string;
  /** Of its image, its container and its volumes. */
  readonly name: string;
  readonly token: string;
  /** The commands of the guide that made it. */
  readonly made: readonly string[];
  /** The commands that `svc deploy init` printed. */
  readonly next: readonly string[];
  write(name: string, text: string): void;
  /** Writes the files of the target again. */
  deploy(): Promise<void>;
}

/** Takes seconds: npm makes the lockfile. */
export async function makeBot(folder: string): Promise<BotProject> {
  const path = join(folder, 'bot');
  const svc = async (...args: readonly string[]): Promise<{ readonly next: readonly string[] }> => {
    const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args, '--json'], { cwd: folder });
    return JSON.parse(stdout);
  };
  const [init = '', enter = '', target = '', ...then] = guideLines('containers.md', 'first');
  await svc(...wordsOf(init).slice(1));
  assert.equal(enter, 'cd bot');
  const read = (name: string): string => readFileSync(join(path, name), 'utf8');
  const write = (name: string, text: string): void => writeFileSync(join(path, name), text);
  await promisify(execFile)('mkdir', [
    '-p',
    ...['plugins/blocker', '.svc', 'data', '.git', 'dist'].map((name) => join(path, name)),
  ]);
  write('plugins/blocker/index.ts', BLOCKER);
  write(
    'svc.config.yml',
    `${read('svc.config.yml').replace('plugins:\n', 'plugins:\n  blocker:\n    use: ./plugins/blocker\n')}supervisor:\n  restarts: 100\n  watchdogSeconds: 5\n`,
  );
  const deploy = () => svc(...wordsOf(target).slice(1), '--project', path, '--force');
  const { next } = await deploy();
  assert.deepEqual(next, then, 'the guide goes on as svc deploy init does');
  return {
    path,
    name: (parse(read('compose.yml')) as { readonly name: string }).name,
    made: [init, enter, target],
    token: /^HTTP_TOKEN=(.+)$/mu.exec(read('.env'))?.[1] ?? '',
    next,
    write,
    deploy: async () => void (await deploy()),
  };
}

export interface Asked {
  readonly status: number;
  readonly body: unknown;
}

/** Body of `/api/system/status`, as far as it is looked at. */
export interface HostStatus {
  readonly runtimeId: string;
  readonly ready: boolean;
  readonly owner: string;
  readonly lastExits: readonly { readonly end: string; readonly code: number | null }[];
}

const ASK = `const [path, method, token, body, wanted] = process.argv.slice(1);
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' };
for (;;) {
  try {
    const answer = await fetch('http://127.0.0.1:8068' + path, { method, headers, ...(body === '' ? {} : { body }) });
    const text = await answer.text();
    if (wanted === '' || String(answer.status) === wanted) {
      console.log(JSON.stringify({ status: answer.status, body: text === '' ? null : JSON.parse(text) }));
      break;
    }
  } catch {}
  await new Promise((resolve) => setTimeout(resolve, 200));
}`;

export interface AskOptions {
  readonly method?: string;
  readonly body?: object;
  /** Asked again until it is answered with that. */
  readonly until?: number;
}

/** Asks the published port, until somebody answers. */
export async function ask(
  engine: Engine,
  { token }: BotProject,
  path: string,
  options: AskOptions = {},
): Promise<Asked> {
  const { method = 'GET', body, until } = options;
  const args = [path, method, token, body === undefined ? '' : JSON.stringify(body), String(until ?? '')];
  const quoted = [ASK, ...args].map((text) => `'${text.replaceAll("'", String.raw`'\''`)}'`);
  return JSON.parse(await engine.must(`${process.execPath} --input-type=module -e ${quoted.join(' ')}`));
}
