// Metrics of checkpoints, read from their folders at each scrape. Ages are of good ones: alert when they grow beyond the schedule.
// A checkpoint that was never made, or never rehearsed, is as old as the project: an alert on the age sees it too.
import { Counter, Gauge, type Registry } from 'prom-client';
import { sharedRead } from './shared-read.ts';

export interface CheckpointFigures {
  /** Of the newest good one, or of the project. */
  readonly ageSeconds: number;
  /** Since the last rehearsal of a good one, or since the project began. */
  readonly verifiedSeconds: number;
  readonly bytes: number;
  /** Failures since the start, by code. */
  readonly failures: ReadonlyMap<string, number>;
  /** 1 while the checkpoint that was rehearsed last has a fault, whoever rehearsed it. */
  readonly failed: number;
  /** Verifications by this host that found a fault, since the start. */
  readonly verifyFailures: ReadonlyMap<VerifyFailure, number>;
}

/** `damaged`: its own files. `failed`: what lies beside them. `unknown`: the verification itself ended early. */
export type VerifyFailure = 'damaged' | 'failed' | 'unknown';
const VERIFY_FAILURES: readonly VerifyFailure[] = ['damaged', 'failed', 'unknown'];

const CODES = ['refused', 'storage_unavailable', 'database_corrupt', 'overloaded', 'timeout', 'conflict', 'internal'];

/** `read`: undefined while the database is not open. */
export function checkpointMetrics(registry: Registry, read: () => Promise<CheckpointFigures | undefined>): void {
  const registers = [registry];
  const figures = sharedRead(read);
  const gauge = (
    name: string,
    help: string,
    figure: Exclude<keyof CheckpointFigures, 'failures' | 'verifyFailures'>,
  ): void => {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const known = await figures(this);
        if (known === undefined) this.remove();
        else this.set(known[figure]);
      },
    });
  };
  gauge(
    'svc_checkpoint_age_seconds',
    'Age of the newest good checkpoint; of the project while there is none.',
    'ageSeconds',
  );
  gauge(
    'svc_checkpoint_verified_seconds',
    'Time since a good checkpoint was last rehearsed; since the project began while none was.',
    'verifiedSeconds',
  );
  gauge('svc_checkpoint_bytes', 'Bytes of all checkpoints; a file that several need counts once.', 'bytes');
  gauge(
    'svc_checkpoint_failed',
    '1 while the newest checkpoint that was rehearsed, or cannot be read, cannot be relied on.',
    'failed',
  );
  const counter = (
    { name, help, label }: { readonly name: string; readonly help: string; readonly label: string },
    known: readonly string[],
    countsOf: (figures: CheckpointFigures) => ReadonlyMap<string, number>,
  ): void => {
    new Counter({
      name,
      help,
      labelNames: [label],
      registers,
      async collect() {
        const found = await figures(this);
        this.reset();
        if (found === undefined) return;
        for (const value of known) this.inc({ [label]: value }, 0);
        for (const [value, count] of countsOf(found)) this.inc({ [label]: value }, count);
      },
    });
  };
  counter(
    { name: 'svc_checkpoint_failures_total', help: 'Checkpoints that could not be made, by code.', label: 'code' },
    CODES,
    ({ failures }) => failures,
  );
  counter(
    {
      name: 'svc_checkpoint_verify_failures_total',
      help: 'Verifications of checkpoints by this host that found a fault, or ended early.',
      label: 'result',
    },
    VERIFY_FAILURES,
    ({ verifyFailures }) => verifyFailures,
  );
}
