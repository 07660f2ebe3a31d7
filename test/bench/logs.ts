// The runtime log at full speed: lines that something prints, stamped, against plain writes; the JSON logger with redaction against pino
// without; how long HTTP waits meanwhile; what is lost of last words. Each beside its baseline in the same minute, in processes of their own.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundlePrograms } from '../support/process/bundle.ts';
import { fixtureProgram } from '../support/process/fixture-programs.ts';
import { median, percentile } from './load/support.ts';

/** A row of the report. */
export interface LogFigure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly baseline?: { readonly name: string; readonly value: number };
  readonly ratio?: number;
  readonly goal?: { readonly text: string; readonly met: boolean };
}

interface TextFigures {
  readonly textPerSecond: number;
  readonly filePerSecond: number;
  readonly rssBytes: number;
}

const DEATHS_OF_A_KIND = 10;
const LINES_BEFORE_DEATH = 2_000;
const REQUESTS = 300;
const MB = 1e6;

export async function measureLogs(rounds: number): Promise<readonly LogFigure[]> {
  const programs = await bundlePrograms(['log-load', 'last-words'].map(fixtureProgram));
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-log-'));
  const bench = new LogBench(programs, join(folder, 'runtime.log'));
  try {
    return [...bench.text(rounds), ...bench.json(rounds), await bench.http(), await bench.lastWords()];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class LogBench {
  readonly #programs: ReadonlyMap<string, string>;
  readonly #file: string;

  constructor(programs: ReadonlyMap<string, string>, file: string) {
    this.#programs = programs;
    this.#file = file;
  }

  text(rounds: number): readonly LogFigure[] {
    const pairs = Array.from({ length: rounds }, () => ({
      raw: this.#load<TextFigures>('raw'),
      stamped: this.#load<TextFigures>('stamped'),
    }));
    const of = (pick: (pair: (typeof pairs)[number]) => number): number => median(pairs.map(pick));
    const raw = { name: 'one write a chunk, plain', value: of((pair) => pair.raw.textPerSecond) / MB };
    const stamped = of((pair) => pair.stamped.textPerSecond) / MB;
    const growth = of((pair) => pair.stamped.rssBytes) / MB;
    const rawGrowth = of((pair) => pair.raw.rssBytes) / MB;
    return [
      {
        name: 'printed lines of 200 B, stamped and masked',
        value: stamped,
        unit: 'MB/s',
        baseline: raw,
        ratio: stamped / raw.value,
        goal: { text: '>= 300 MB/s', met: stamped >= 300 },
      },
      { name: '  the same, as bytes of the log', value: of((pair) => pair.stamped.filePerSecond) / MB, unit: 'MB/s' },
      {
        name: '  memory after 200 MB',
        value: growth,
        unit: 'MB',
        baseline: { name: 'plain', value: rawGrowth },
        goal: { text: '<= +5 MB', met: growth <= 5 },
      },
    ];
  }

  json(rounds: number): readonly LogFigure[] {
    const pairs = Array.from({ length: rounds }, () => ({
      pino: this.#load<{ linesPerSecond: number }>('pino').linesPerSecond,
      own: this.#load<{ linesPerSecond: number }>('json').linesPerSecond,
    }));
    const own = median(pairs.map((pair) => pair.own));
    const pino = median(pairs.map((pair) => pair.pino));
    return [
      {
        name: 'JSON lines with redaction of 8 secrets',
        value: own,
        unit: '/s',
        baseline: { name: 'pino without', value: pino },
        ratio: own / pino,
        goal: { text: '>= 0.50', met: own / pino >= 0.5 },
      },
    ];
  }

  async http(): Promise<LogFigure> {
    const rest = await this.#p99('rest');
    const p99 = await this.#p99('serve');
    const baseline = { name: 'the same, nothing written', value: rest };
    return {
      name: 'p99 of HTTP meanwhile',
      value: p99,
      unit: 'ms',
      baseline,
      goal: { text: '< 20 ms', met: p99 < 20 },
    };
  }

  /** Of the answers of a server that writes 64 KiB of lines in each turn of its event loop, or none. */
  async #p99(kind: 'serve' | 'rest'): Promise<number> {
    const child = spawn(process.execPath, [this.#program('log-load'), kind, this.#file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const latencies: number[] = [];
    try {
      const [port] = (await once(child.stdout, 'data')) as [Buffer];
      for (let n = 0; n < REQUESTS; n += 1) latencies.push(await answered(Number(port)));
    } finally {
      await ended(child);
      rmSync(this.#file, { force: true });
    }
    return percentile(latencies, 0.99);
  }

  /** Beside the same lines as plain Node prints them to whoever reads its output: a pipe, with this process at its end. */
  async lastWords(): Promise<LogFigure> {
    let lost = 0;
    let lostOfPipe = 0;
    for (const kind of ['exit', 'throw', 'abort', 'memory'])
      for (let death = 0; death < DEATHS_OF_A_KIND; death += 1) {
        lost += LINES_BEFORE_DEATH - (await this.#linesOf(kind));
        lostOfPipe += LINES_BEFORE_DEATH - (await this.#pipedLinesOf(kind));
      }
    return {
      name: `lines lost in ${DEATHS_OF_A_KIND * 4} deaths (exit, throw, abort, memory)`,
      value: lost,
      unit: '',
      baseline: { name: 'plain Node, a pipe', value: lostOfPipe },
      goal: { text: '0', met: lost === 0 },
    };
  }

  async #linesOf(kind: string): Promise<number> {
    await this.#printedUntilDeath(this.#file, kind);
    const lines = wholeLines(readFileSync(this.#file, 'utf8'));
    rmSync(this.#file);
    return lines;
  }

  async #pipedLinesOf(kind: string): Promise<number> {
    return wholeLines(await this.#printedUntilDeath('-', kind));
  }

  async #printedUntilDeath(to: string, kind: string): Promise<string> {
    const args = ['--max-old-space-size=16', this.#program('last-words'), to, kind];
    const child = spawn('sh', ['-c', 'ulimit -c 0; exec "$@"', 'sh', process.execPath, ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
    await once(child, 'close');
    return printed;
  }

  #load<T>(kind: string): T {
    const answer = execFileSync(process.execPath, [this.#program('log-load'), kind, this.#file], { encoding: 'utf8' });
    rmSync(this.#file, { force: true });
    return JSON.parse(answer) as T;
  }

  #program(name: string): string {
    return this.#programs.get(name) ?? name;
  }
}

const wholeLines = (text: string): number => text.split('\n').length - 1;

function answered(port: number): Promise<number> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(performance.now() - startedAt));
    })
      .on('error', reject)
      .end();
  });
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
