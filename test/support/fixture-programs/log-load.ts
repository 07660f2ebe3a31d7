// Writes 200 MB of lines to a log at full speed, in the way that its argument names, and prints what it took.
/* oxlint-disable eslint/no-restricted-properties -- figures of npm run bench -- logs */
import { randomBytes } from 'node:crypto';
import { openSync, statSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { pino, stdTimeFunctions } from 'pino';
import { createLog } from '../../../shared/log/logger.ts';

const [, , kind = '', file = ''] = process.argv;
const BASE = { project: 'shop', runtimeId: '0193a5c8-7c1e-7b9e-9c55-0123456789ab' };
const FIELDS = { endpoint: 'root/irc:irc~libera', item: '0193a5c8-7c1e-7b9e-9c55-abcdef012345', ms: 12.5 };
const TOTAL_BYTES = 200e6;
const LINES_OF_JSON = 400_000;
const LINE = 'a line of text such as a package prints while it works, with a number at its end: ';
const SECRETS = Array.from({ length: 8 }, () => randomBytes(32).toString('base64url'));

/** 64 KiB of lines of 200 characters. */
const chunk = Array.from(
  { length: 320 },
  (_, n) => `${LINE.repeat(3).slice(0, 190)}${String(n).padStart(9, '0')}\n`,
).join('');

function ownLog() {
  const log = createLog({ destination: file, base: BASE });
  log.secrets.add(SECRETS);
  return log;
}

const plainPino = () =>
  pino(
    { base: BASE, timestamp: stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    pino.destination({ dest: file, sync: true }),
  );

/** Of raw and stamped text: one write of this program. */
function textWriter(): () => void {
  if (kind === 'raw') {
    const descriptor = openSync(file, 'a');
    return () => void writeSync(descriptor, chunk);
  }
  const log = ownLog();
  return () => log.text(chunk, { level: 'info', source: 'stdout' });
}

function timed(run: () => void): number {
  const startedAt = performance.now();
  run();
  return (performance.now() - startedAt) / 1_000;
}

function text(): void {
  const write = textWriter();
  const times = Math.ceil(TOTAL_BYTES / chunk.length);
  for (let n = 0; n < times / 10; n += 1) write();
  const before = process.memoryUsage.rss();
  const size = statSync(file).size;
  const cpuBefore = process.cpuUsage();
  const seconds = timed(() => {
    for (let n = 0; n < times; n += 1) write();
  });
  const fileBytes = statSync(file).size - size;
  const { user, system } = process.cpuUsage(cpuBefore);
  const rssBytes = process.memoryUsage.rss() - before;
  const textBytes = times * chunk.length;
  const perSecond = { textPerSecond: textBytes / seconds, filePerSecond: fileBytes / seconds };
  console.log(JSON.stringify({ ...perSecond, textPerCpuSecond: (textBytes / (user + system)) * 1e6, rssBytes }));
}

function json(): void {
  const logger = kind === 'pino' ? plainPino() : ownLog().logger;
  const run = (lines: number) => () => {
    for (let n = 0; n < lines; n += 1) logger.info(FIELDS, 'item handled');
  };
  timed(run(LINES_OF_JSON / 10));
  console.log(JSON.stringify({ linesPerSecond: LINES_OF_JSON / timed(run(LINES_OF_JSON)) }));
}

/** Answers HTTP while each turn of the event loop writes 64 KiB of lines, or nothing. */
function serve(): void {
  const write = kind === 'rest' ? () => {} : textWriter();
  const turn = (): void => {
    write();
    setImmediate(turn);
  };
  const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1', () => {
    const address = server.address();
    console.log(typeof address === 'object' ? address?.port : undefined);
    turn();
  });
}

if (kind === 'serve' || kind === 'rest') serve();
else if (kind === 'raw' || kind === 'stamped') text();
else json();
