// Metrics of checkpoints, read from their folders at each scrape. Ages are of good ones: alert when they grow beyond the schedule.
import { Counter, Gauge, type Registry } from 'prom-client';

export interface CheckpointFigures {
  /** Of the newest good one. Undefined before the first. */
  readonly ageSeconds: number | undefined;
  /** Since the last rehearsal of a good one. */
  readonly verifiedSeconds: number | undefined;
  readonly bytes: number;
  /** Failures since the start, by code. */
  readonly failures: ReadonlyMap<string, number>;
}

const CODES = ['refused', 'storage_unavailable', 'database_corrupt', 'overloaded', 'timeout', 'conflict', 'internal'];

export function checkpointMetrics(registry: Registry, read: () => CheckpointFigures): void {
  const registers = [registry];
  new Gauge({
    name: 'svc_checkpoint_age_seconds',
    help: 'Age of the newest good checkpoint.',
    registers,
    collect() {
      const { ageSeconds } = read();
      if (ageSeconds === undefined) this.remove();
      else this.set(ageSeconds);
    },
  });
  new Gauge({
    name: 'svc_checkpoint_verified_seconds',
    help: 'Time since a good checkpoint was last rehearsed.',
    registers,
    collect() {
      const { verifiedSeconds } = read();
      if (verifiedSeconds === undefined) this.remove();
      else this.set(verifiedSeconds);
    },
  });
  new Gauge({
    name: 'svc_checkpoint_bytes',
    help: 'Bytes of all checkpoints; a file that several need counts once.',
    registers,
    collect() {
      this.set(read().bytes);
    },
  });
  new Counter({
    name: 'svc_checkpoint_failures_total',
    help: 'Checkpoints that could not be made, by code.',
    labelNames: ['code'],
    registers,
    collect() {
      this.reset();
      for (const code of CODES) this.inc({ code }, 0);
      for (const [code, count] of read().failures) this.inc({ code }, count);
    },
  });
}
