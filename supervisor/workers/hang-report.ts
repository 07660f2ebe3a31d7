// The report on a worker that has gone silent, kept in .svc/reports/ (shared/log/report-folder.ts: at most ten, two MiB).
//
// From outside: the kernel tells whether it burns time (R), waits (S, D) or was stopped (T). From inside, where a thread of the worker could
// still look (worker/watchdog/): the stack of its main thread. Neither holds a value of the program: no environment, no argument, no heap.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnFile } from '../../shared/files/own-file.ts';
import { blockedReportPath, writeReport } from '../../shared/log/report-folder.ts';

export interface HangFacts {
  readonly pid: number;
  readonly run: number;
  readonly runtimeId: string | null;
  readonly lastLines: readonly string[];
}

const LINE_CHARACTERS = 2_000;
const RUNTIME_ID = /^[0-9a-f-]{36}$/;
const STATUS_FIELDS = /^(State|VmRSS|VmSwap|Threads|voluntary_ctxt_switches|nonvoluntary_ctxt_switches):\s+(.+)$/gm;

export class HangReport {
  readonly #folder: string;
  readonly #path: string;
  readonly #facts: HangFacts;
  readonly #kernel: Readonly<Record<string, string>>;

  constructor(folder: string, facts: HangFacts) {
    this.#folder = folder;
    this.#path = join(folder, `hung-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.json`);
    this.#facts = { ...facts, lastLines: facts.lastLines.map((line) => line.slice(0, LINE_CHARACTERS)) };
    this.#kernel = kernelView(facts.pid);
  }

  /** Writes what is known by now, the worker's own view included; gives the path, or undefined where it cannot be written. */
  write(): string | undefined {
    const at = new Date().toISOString();
    const inside = this.#insideView();
    try {
      writeReport(this.#path, this.#folder, { version: 1, at, ...this.#facts, kernel: this.#kernel, samples: inside });
      return this.#path;
    } catch {
      return undefined; // a full disk must not hold up the kill
    }
  }

  /** The worker is gone: its own view, which may have come late, has its place in this report now. */
  close(): void {
    if (this.write() === undefined || this.#inside === undefined) return;
    rmSync(this.#inside, { force: true });
  }

  get #inside(): string | undefined {
    const { runtimeId } = this.#facts;
    return runtimeId !== null && RUNTIME_ID.test(runtimeId) ? blockedReportPath(this.#folder, runtimeId) : undefined;
  }

  #insideView(): unknown {
    if (this.#inside === undefined) return null;
    try {
      const { state, samples } = JSON.parse(readOwnFile(this.#inside)) as Record<string, unknown>;
      return state === 'silent' ? samples : null;
    } catch {
      return null; // none was written
    }
  }
}

function kernelView(pid: number): Readonly<Record<string, string>> {
  const status = Object.fromEntries(
    [...read(`/proc/${pid}/status`).matchAll(STATUS_FIELDS)].map(([, name = '', value = '']) => [name, value]),
  );
  const fields = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  return { ...status, waitsIn: read(`/proc/${pid}/wchan`), userTicks: fields[11] ?? '', systemTicks: fields[12] ?? '' };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return ''; // no such kernel
  }
}
