// Writes the report on a silent worker to .svc/reports/, which keeps at most ten reports and 2 MiB.
//
// The kernel tells from outside whether the worker uses CPU (R), waits (S, D) or was stopped (T).
// A watchdog thread inside the worker, if it can still run, adds the stack of the main thread.
// The report holds no values of the program: no environment, arguments or heap.
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

  /** Writes the facts known so far, with the worker's own view. Returns the path, or undefined if the file cannot be written. */
  write(): string | undefined {
    const at = new Date().toISOString();
    const inside = this.#insideView();
    try {
      writeReport(this.#path, this.#folder, { version: 1, at, ...this.#facts, kernel: this.#kernel, samples: inside });
      return this.#path;
    } catch {
      return undefined; // a full disk must not delay the kill
    }
  }

  /** Called after the worker has ended: merges its own view, which may have come late, into this report. */
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
      return null; // the worker wrote none
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
    return ''; // no /proc file system
  }
}
