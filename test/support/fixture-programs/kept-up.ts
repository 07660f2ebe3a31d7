// What the benchmarks of process managers keep up: counts its starts in ./starts, then does what KEPT_AS says. Speaks to a supervisor of svc
// where it has one, and needs none.
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { hello, obey, tell } from '../process/fixture-worker.ts';

const HEALTHY_MS = 22_000;
const LATE_MS = 1_200;
const LINES = 2_000;
const TALK_BYTES = 200_000_000;
const LINES_A_WRITE = 300;
const DEATHS = ['exit', 'throw', 'abort', 'memory'];

appendFileSync('starts', '.');
const start = readFileSync('starts', 'utf8').length;
const last = Number(process.env['KEPT_STARTS'] ?? 0);

switch (process.env['KEPT_AS']) {
  case 'crashes at start':
    process.exit(1);
    break;
  case 'crashes after 1.2 s':
    comeUp();
    setTimeout(() => process.exit(1), LATE_MS);
    break;
  case 'crashes at start after 22 s of health':
    if (start > 1) process.exit(1);
    comeUp();
    setTimeout(() => process.exit(1), HEALTHY_MS);
    break;
  case 'asks for restarts':
    comeUp();
    setInterval(() => {
      if (start < last && existsSync('go')) process.exit(51);
    }, 5);
    break;
  case 'talks a lot':
    comeUp();
    await talk();
    break;
  case 'has last words':
    if (start > last) comeUp();
    else speakAndDie(DEATHS[start % DEATHS.length]);
    break;
  case undefined:
    break;
}

async function talk(): Promise<void> {
  const startedAt = Date.now();
  let bytes = 0;
  let lines = 0;
  while (bytes < TALK_BYTES) {
    const line = `${new Date().toISOString()} a line of what it says ${'x'.repeat(150)}\n`;
    const chunk = line.repeat(LINES_A_WRITE);
    bytes += chunk.length;
    lines += LINES_A_WRITE;
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
  }
  writeFileSync('spoken', JSON.stringify({ bytes, lines, startedAt }));
}

function comeUp(): void {
  hello();
  obey();
  tell({ type: 'up', host: null, port: null });
  tell({ type: 'ready', ready: true, generation: 1, reasons: [] });
  setInterval(() => tell({ type: 'heartbeat' }), 1_000);
}

function speakAndDie(how: string | undefined): void {
  for (let n = 0; n < LINES; n += 1) process.stdout.write(`word ${start} ${n} before the end\n`);
  if (how === 'abort') process.abort();
  if (how === 'throw') throw new Error('the end');
  if (how === 'memory') for (const all: unknown[] = []; ; ) all.push(Array.from({ length: 1_000 }, () => all.length));
  process.exit(1);
}
