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
}

const CODES = ['refused', 'storage_unavailable', 'database_corrupt', 'overloaded', 'timeout', 'conflict', 'internal'];

/** `read`: undefined while the database is not open. */
export function checkpointMetrics(registry: Registry, read: () => Promise<CheckpointFigures | undefined>): void {
  const registers = [registry];
  const figures = sharedRead(read);
  const gauge = (name: string, help: string, figure: Exclude<keyof CheckpointFigures, 'failures'>): void => {
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
  new Counter({
    name: 'svc_checkpoint_failures_total',
    help: 'Checkpoints that could not be made, by code.',
    labelNames: ['code'],
    registers,
    async collect() {
      const failures = (await figures(this))?.failures;
      this.reset();
      if (failures === undefined) return;
      for (const code of CODES) this.inc({ code }, 0);
      for (const [code, count] of failures) this.inc({ code }, count);
    },
  });
}
