// Metrics of scheduled jobs. They are read from stored totals at each scrape, so they go on over restarts. Without jobs there is none.
import { Counter, Gauge, type Registry } from 'prom-client';
import { sharedRead } from './shared-read.ts';

export interface JobFigures {
  /** Of the jobs of the good set, and of removed ones that ran. `outcome` `missed` counts due times. `lastAt`: epoch milliseconds. */
  readonly totals: readonly {
    readonly name: string;
    readonly outcome: string;
    readonly count: number;
    readonly last_at: number;
  }[];
  /** Ids of the good set. */
  readonly jobs: readonly string[];
  readonly isFileOk: boolean;
}

const OUTCOMES = ['done', 'failed', 'cancelled', 'skipped'] as const;

/** `read`: undefined while no job was ever there. */
export function jobMetrics(registry: Registry, read: () => Promise<JobFigures | undefined>): void {
  const registers = [registry];
  const figures = sharedRead(read);
  new Counter({
    name: 'svc_job_runs_total',
    help: 'Runs of scheduled jobs by how they ended.',
    labelNames: ['job', 'outcome'],
    registers,
    async collect() {
      const { totals = [], jobs = [] } = (await figures(this)) ?? {};
      this.reset();
      for (const job of jobs) for (const outcome of OUTCOMES) this.inc({ job, outcome }, 0);
      for (const { name, outcome, count } of totals) if (outcome !== 'missed') this.inc({ job: name, outcome }, count);
    },
  });
  new Counter({
    name: 'svc_jobs_missed_total',
    help: 'Due times of scheduled jobs that were missed.',
    labelNames: ['job'],
    registers,
    async collect() {
      const { totals = [], jobs = [] } = (await figures(this)) ?? {};
      this.reset();
      for (const job of jobs) this.inc({ job }, 0);
      for (const { name, outcome, count } of totals) if (outcome === 'missed') this.inc({ job: name }, count);
    },
  });
  new Gauge({
    name: 'svc_job_last_success_timestamp_seconds',
    help: 'When the last run of the job succeeded. Alert on its age.',
    labelNames: ['job'],
    registers,
    async collect() {
      const { totals = [], jobs = [] } = (await figures(this)) ?? {};
      this.reset();
      for (const { name, outcome, last_at: at } of totals)
        if (outcome === 'done' && jobs.includes(name)) this.set({ job: name }, at / 1_000);
    },
  });
  new Gauge({
    name: 'svc_jobs_file_ok',
    help: '0 while data/schedule-jobs.json is refused; the last good set goes on then.',
    registers,
    async collect() {
      const known = await figures(this);
      if (known === undefined) this.remove();
      else this.set(Number(known.isFileOk));
    },
  });
}
