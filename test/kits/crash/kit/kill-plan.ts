// When each life of the worker ends. Half of the kills come at a random moment, half at a named step of a message's way.
import type { Random } from './random.ts';

/** Every step from a delivery to its sent answer, and the two of the writer. */
export const STEPS = [
  'received',
  'stored',
  'attempt',
  'decided',
  'committed',
  'sending',
  'posted',
  'sent',
  'writer.sync',
  'writer.committed',
] as const;
export type Step = (typeof STEPS)[number];

/** Points that lie on no message's way, with the test that kills there; of `once`, the name of the step follows the colon. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  begun: 'kits/crash/keyed-changes.test.ts',
  changed: 'kits/crash/keyed-changes.test.ts',
  'called:': 'contract/sdk/crash.test.ts',
  'kept:': 'contract/sdk/crash.test.ts',
  'checkpoint.begun': 'process/restore/checkpoint-kill.test.ts',
  'checkpoint.copied': 'process/restore/checkpoint-kill.test.ts',
  'checkpoint.whole': 'process/restore/checkpoint-kill.test.ts',
  'checkpoint.renamed': 'process/restore/checkpoint-kill.test.ts',
  'prune.renamed': 'process/restore/checkpoint-kill.test.ts',
  'export.staged': 'process/restore/checkpoint-kill.test.ts',
  'export.written': 'process/restore/checkpoint-kill.test.ts',
  'import.read': 'process/restore/checkpoint-kill.test.ts',
  'import.renamed': 'process/restore/checkpoint-kill.test.ts',
  'restore.staged': 'process/restore/restore-kill.test.ts',
  'restore.prepared': 'process/restore/restore-kill.test.ts',
  'restore.decided': 'process/restore/restore-kill.test.ts',
  'restore.renamed': 'process/restore/restore-kill.test.ts',
  'restore.finished': 'process/restore/restore-kill.test.ts',
  'workroom.append': 'process/restore/workroom-kill.test.ts',
  'workroom.half': 'process/restore/workroom-kill.test.ts',
  'workroom.sync': 'process/restore/workroom-kill.test.ts',
  'workroom.synced': 'process/restore/workroom-kill.test.ts',
  'workroom.convert.written': 'process/restore/workroom-kill.test.ts',
  'workroom.convert.renamed': 'process/restore/workroom-kill.test.ts',
  'workroom.convert.moved': 'process/restore/workroom-kill.test.ts',
  'workroom.erase': 'process/restore/workroom-kill.test.ts',
  'workroom.erase.written': 'process/restore/workroom-kill.test.ts',
  'workroom.erase.renamed': 'process/restore/workroom-kill.test.ts',
  'workroom.erase.placed': 'process/restore/workroom-kill.test.ts',
};

/** Faults that a run plants, with the test that sees the oracle find them. */
export const PLANTS: Readonly<Record<string, string>> = {
  'ack-before-commit': 'process/recovery/crash-oracle.test.ts',
  'seq-from-memory': 'process/recovery/crash-oracle.test.ts',
  'lane-not-held': 'process/recovery/crash-oracle.test.ts',
  'commit-without-sync': 'kits/crash/power-cut.test.ts',
  'calls-not-alone': 'kits/platforms/planted-faults.test.ts',
  'sent-before-call': 'kits/platforms/planted-faults.test.ts',
  'key-of-attempt': 'kits/platforms/planted-faults.test.ts',
  'workroom-answer-early': 'kits/workroom/planted-faults.test.ts',
  'workroom-catalog-apart': 'kits/workroom/planted-faults.test.ts',
  'workroom-chain-restarts': 'kits/workroom/planted-faults.test.ts',
  'workroom-file-without-sync': 'kits/workroom/planted-faults.test.ts',
  'checkpoint-without-hold': 'kits/recovery/planted-faults.test.ts',
  'folder-without-sync': 'kits/recovery/planted-faults.test.ts',
  'code-without-sync': 'kits/recovery/planted-faults.test.ts',
  'restore-keeps-epoch': 'kits/recovery/planted-faults.test.ts',
  'restore-without-carry': 'kits/recovery/planted-faults.test.ts',
};

export type Kill =
  /** Milliseconds after the process was made: while it loads, migrates, recovers. */
  | { readonly kind: 'starting'; readonly delayMs: number }
  /** Milliseconds after the first acknowledgement of this life. */
  | { readonly kind: 'acknowledged'; readonly delayMs: number }
  /** When the follower has been told of so many deliveries that this life took in. */
  | { readonly kind: 'followed'; readonly deliveries: number }
  /** At the n-th pass of a step. */
  | { readonly kind: 'step'; readonly step: Step; readonly pass: number };

/** So often a step may be passed before the kill: what happens often is let go on for longer. */
const PASSES: Readonly<Record<Step, number>> = {
  received: 60,
  stored: 60,
  attempt: 60,
  decided: 40,
  committed: 40,
  sending: 8,
  posted: 8,
  sent: 8,
  'writer.sync': 60,
  'writer.committed': 60,
};
const START_MS = 80;
const RECOVERY_MS = 400;
const ACK_MS = 80;
/** At the end the same recovery is cut again and again: it must come to the same. */
const RECOVERIES = 5;

export function planKills(total: number, random: Random): readonly Kill[] {
  const count = Math.max(0, total - Math.min(RECOVERIES, Math.ceil(total / 3)));
  const steps = Math.max(STEPS.length * Math.ceil((count * 0.6) / STEPS.length), STEPS.length);
  const kills: Kill[] = [];
  for (let index = 0; index < count; index += 1) {
    if (index < steps) kills.push(atStep(STEPS[index % STEPS.length] ?? 'stored', random));
    else kills.push(atMoment(index, random));
  }
  const recoveries = Array.from(
    { length: total - count },
    (): Kill => ({ kind: 'starting', delayMs: random.between(START_MS, RECOVERY_MS) }),
  );
  return [...shuffled(kills, random), ...recoveries];
}

const atStep = (step: Step, random: Random): Kill => ({ kind: 'step', step, pass: random.between(1, PASSES[step]) });

/** While many requests are open. */
export const underLoad = (random: Random): Kill => ({ kind: 'acknowledged', delayMs: random.between(0, ACK_MS) });

function atMoment(index: number, random: Random): Kill {
  if (index % 2 === 0) return underLoad(random);
  return { kind: 'starting', delayMs: random.between(0, index % 4 === 1 ? START_MS : RECOVERY_MS) };
}

function shuffled<T>(items: T[], random: Random): readonly T[] {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = random.between(0, last);
    [items[last], items[other]] = [items[other] as T, items[last] as T];
  }
  return items;
}

/** What the distribution is counted by. */
export function labelOf(kill: Kill): string {
  switch (kill.kind) {
    case 'step':
      return `at ${kill.step}`;
    case 'acknowledged':
      return `${bucket(kill.delayMs, 20)} ms after the first ack`;
    case 'followed':
      return `after ${kill.deliveries} deliveries were followed`;
    case 'starting':
      return `${kill.delayMs <= START_MS ? bucket(kill.delayMs, 20) : bucket(kill.delayMs, 80)} ms after the start`;
  }
}

const bucket = (ms: number, width: number): string =>
  `${Math.floor(ms / width) * width}-${Math.floor(ms / width) * width + width - 1}`;

/** Points at which a host in the process of its test is killed, with that test. */
export const IN_PROCESS: Readonly<Record<string, string>> = {
  job_due: 'host/jobs/crash.test.ts',
  job_stored: 'host/jobs/crash.test.ts',
  job_ended: 'host/jobs/crash.test.ts',
  job_file: 'host/jobs/crash.test.ts',
  job_file_written: 'host/jobs/crash.test.ts',
  'alerts.fires': 'host/alerts/told.test.ts',
  'alerts.told': 'host/alerts/told.test.ts',
};
