// What a plugin's author waits for: a test file with one test of a plugin by svc/testing, beside one without anything, each as `node --test`
// runs it; and in a process that goes on, a bot that starts, takes a command and stops.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from './load/report.ts';
import { median, ROOT } from './load/support.ts';

const ROUNDS = 7;
const BOTS = 50;
const GOAL = 0.25;

const PLUGIN = `
import { definePlugin, t } from 'svc';
export default definePlugin({ name: 'greeter', setup(p) {
  p.command('greet', { summary: 'Greets', args: { who: t.string() } }, (ctx, { who }) => 'hello ' + who);
} });
`;
const BARE = `
import assert from 'node:assert/strict';
import { test } from 'node:test';
test('nothing', async () => assert.deepEqual(['hello bob'], ['hello bob']));
`;
/** As often as it is told to; the times go to a file. */
const TEST = `
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { testBot } from 'svc/testing';
import greeter from './greeter.mjs';
test('greets', async () => {
  const times = [];
  for (let n = 0; n < Number(process.env.BOTS); n += 1) {
    const begun = performance.now();
    const bot = await testBot(greeter);
    await bot.person('ann').says('/greet bob');
    assert.deepEqual(bot.shown('dm-ann'), ['hello bob']);
    await bot.stop();
    times.push(performance.now() - begun);
  }
  writeFileSync('times.json', JSON.stringify(times));
});
`;

export async function benchPluginTests(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(ROOT, join(folder, 'node_modules', 'svc'));
    const sources = {
      'package.json': '{"type":"module"}',
      'greeter.mjs': PLUGIN,
      'bare.test.mjs': BARE,
      'greeter.test.mjs': TEST,
    };
    for (const [name, text] of Object.entries(sources)) writeFileSync(join(folder, name), text);
    await measure(report, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(report: Report, folder: string): Promise<void> {
  const rows: { readonly bareMs: number; readonly wholeMs: number; readonly firstMs: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bareMs = await timeOf(folder, 'bare.test.mjs');
    const wholeMs = await timeOf(folder, 'greeter.test.mjs', 1);
    rows.push({ bareMs, wholeMs, firstMs: timesIn(folder)[0] ?? Number.NaN });
  }
  await timeOf(folder, 'greeter.test.mjs', BOTS);
  const oneMs = median(timesIn(folder));
  const of = (key: keyof (typeof rows)[number]): number => median(rows.map((row) => row[key]));
  const beside = (value: number) => ({
    value,
    unit: 'ms',
    baseline: { name: 'bare node --test', value: of('bareMs') },
    ratio: value / of('bareMs'),
  });
  report.add({ name: 'node --test of one test of a plugin', ...beside(of('wholeMs')) });
  report.add({ name: '  in it a bot: started, a command, stopped', ...beside(of('firstMs')) });
  const one = beside(oneMs);
  report.add({
    name: `  one of ${BOTS} in a process`,
    ...one,
    goal: { text: `<= ${GOAL}`, met: one.ratio <= GOAL },
  });
}

async function timeOf(folder: string, file: string, bots = 0): Promise<number> {
  const begun = performance.now();
  const env = { PATH: process.env['PATH'], BOTS: String(bots) };
  const test = spawn(process.execPath, ['--test', file], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(test, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`${file} ended with ${code}`);
  return performance.now() - begun;
}

const timesIn = (folder: string): readonly number[] =>
  JSON.parse(readFileSync(join(folder, 'times.json'), 'utf8')) as number[];
