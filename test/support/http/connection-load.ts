// Connections at 200 a second to a host inside a booted machine, for as long as a story takes: none may be refused.
import type { BootedSystemd } from '../owners/booted-systemd.ts';
import { until } from '../until.ts';

const BEGAN = '/tmp/load-began';
const STOP = '/tmp/load-stop';

/** Each connection is one request; prints how many ended how, by status or by the code of the error. */
const LOAD = `const { get } = require('node:http');
const { existsSync, writeFileSync } = require('node:fs');
const told = {};
let open = 0;
let isOver = false;
const count = (how) => {
  told[how] = (told[how] ?? 0) + 1;
  open -= 1;
  if (told['200'] === 1) writeFileSync('${BEGAN}', '');
  if (isOver && open === 0) process.stdout.write(JSON.stringify(told));
};
const timer = setInterval(() => {
  isOver = existsSync('${STOP}');
  if (isOver) clearInterval(timer);
  open += 1;
  get(process.argv[1], { agent: false }, (answer) => {
    answer.resume();
    answer.once('close', () => count(answer.complete ? String(answer.statusCode) : 'cut'));
  }).once('error', ({ code }) => count(code));
}, 5);`;

/** How many requests ended how, while the story went on: by status, by the code of an error, or `cut` in the middle of an answer. */
export async function underLoad(
  systemd: BootedSystemd,
  url: string,
  story: () => Promise<void>,
): Promise<Readonly<Record<string, number>>> {
  await systemd.must(['rm', '-f', BEGAN, STOP]);
  const load = systemd.must(['node', '-e', LOAD, url]);
  try {
    await until(async () => (await systemd.run(['test', '-e', BEGAN])).code === 0, {
      what: 'a first answer',
      everyMs: 50,
    });
    await story();
  } finally {
    await systemd.must(['touch', STOP]);
  }
  return JSON.parse(await load) as Readonly<Record<string, number>>;
}
