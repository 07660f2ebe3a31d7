// Runs in another thread of the worker. Detects that the main thread's pulse has stopped, takes its stack and writes a report.
//
//   BLOCKED-1  The report contains only locations: names of functions, files, lines. Secrets are masked even there, and no values are
//              recorded.
//   BLOCKED-2  The debugger attaches only after a long silence. The session connects threads directly and opens no port.
//   BLOCKED-3  A main thread that blocks in a system call yields no stack. The report says so.
//   BLOCKED-4  A pulse that stopped because the machine slept is not counted, because this thread slept too.
//   BLOCKED-5  Where no owner notices the silence, this thread ends the process after the report. A busy loop still has a heartbeat
//              (worker/process/heartbeat.ts), so only one that is stuck in one piece of work is ended.

import { writeSync } from 'node:fs';
import { stableJson } from '../../shared/files/atomic-file.ts';
import { SecretRegistry } from '../../shared/log/redaction.ts';
import { blockedReportPath, writeReport } from '../../shared/log/report-folder.ts';
import { messageOf } from '../../shared/svc-error.ts';
import type { GuardOrder } from './loop-guard.ts';
import { abortMainThread, type StackFrame, takeMainStack } from './main-stack.ts';

interface Sample {
  readonly at: string;
  readonly silentMs: number;
  /** Undefined: the main thread yielded no stack in time, because it blocks in a system call. */
  readonly frames: readonly StackFrame[] | undefined;
}

const SAMPLES = 3;
const LATE_MS = 2_000;
const LONGEST_LOOK_MS = 1_000;

class BlockedLoop {
  #order: GuardOrder;
  #registry = new SecretRegistry();
  #seen = 0;
  #seenAt = performance.now();
  #lookedAt = performance.now();
  #samples: Sample[] = [];
  #isTaking = false;
  #isEnding = false;
  #beats = 0;
  #heardAt = performance.now();

  constructor(order: GuardOrder) {
    this.#order = order;
    this.learn(order);
  }

  get lookMs(): number {
    return Math.min(LONGEST_LOOK_MS, this.#order.limitMs / 4);
  }

  learn(order: GuardOrder): void {
    this.#order = order;
    this.#registry.add(order.secrets);
  }

  look(): void {
    const now = performance.now();
    const pulse = Atomics.load(new Int32Array(this.#order.pulse), 0);
    if (now - this.#lookedAt > this.lookMs + LATE_MS) this.#seenAt = this.#heardAt = now; // the machine slept
    this.#lookedAt = now;
    const isSilent = this.#isSilent(now);
    if (pulse !== this.#seen) {
      if (this.#samples.length > 0) this.#write(now - this.#seenAt, 'recovered');
      this.#samples = [];
      this.#seen = pulse;
      this.#seenAt = now;
    } else if (isSilent && this.#samples.length > 0 && !this.#isTaking) this.#end(now - this.#heardAt);
    else if (now - this.#seenAt > this.#order.limitMs && this.#samples.length < SAMPLES && !this.#isTaking)
      void this.#sample(now - this.#seenAt);
  }

  /** BLOCKED-5. */
  #isSilent(now: number): boolean {
    const { end } = this.#order;
    if (end === undefined) return false;
    const beats = Atomics.load(new Int32Array(end.heartbeat), 0);
    if (beats !== this.#beats) this.#heardAt = now;
    this.#beats = beats;
    return now - this.#heardAt > end.afterMs;
  }

  #end(silentMs: number): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const { folder, runtimeId, pid } = this.#order;
    const report = blockedReportPath(folder, runtimeId);
    const text = `svc: the event loop has stood still for ${Math.round(silentMs / 1_000)} s, so this process ends: ${report} has its stack\n`;
    try {
      writeSync(2, text); // the stream of this thread passes through the main thread
    } catch {
      // nobody reads it
    }
    process.kill(pid, 'SIGKILL');
    abortMainThread();
  }

  async #sample(silentMs: number): Promise<void> {
    this.#isTaking = true;
    const pulse = this.#seen;
    const frames = await takeMainStack().catch(() => undefined);
    this.#isTaking = false;
    if (pulse !== this.#seen) return; // the main thread has recovered meanwhile
    this.#samples.push({ at: new Date().toISOString(), silentMs: Math.round(silentMs), frames });
    this.#write(silentMs, 'silent');
  }

  #write(silentMs: number, state: 'silent' | 'recovered'): void {
    const { folder, runtimeId, pid } = this.#order;
    const report = { version: 1, runtimeId, pid, state, silentMs: Math.round(silentMs), samples: this.#samples };
    try {
      writeReport(blockedReportPath(folder, runtimeId), folder, this.#registry.mask(stableJson(report)));
    } catch (error) {
      process.emitWarning(`no report of the blocked event loop: ${messageOf(error)}`); // such as a full disk
    }
  }
}

let loop: BlockedLoop | undefined;

/** Starts watching, or applies a changed order. Runs until the thread ends. */
export function watchLoop(order: GuardOrder): void {
  if (loop !== undefined) return loop.learn(order);
  const made = new BlockedLoop(order);
  loop = made;
  const lookAgain = (): void => {
    setTimeout(() => {
      made.look();
      lookAgain();
    }, made.lookMs).unref();
  };
  lookAgain();
}
