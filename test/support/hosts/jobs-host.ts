// An engine with scheduled jobs, a clock that the test moves, and a platform in memory whose one account is `memory~a`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { JOBS_FILE } from '../../../shared/jobs/job.ts';
import { JobsHost as HostJobs } from '../../../worker/host/jobs.ts';
import { WorkroomHost } from '../../../worker/host/workroom.ts';
import { type EngineHost, engineHost, type HostOptions } from './engine-host.ts';

interface Test {
  after(run: () => void | Promise<void>): void;
}

export interface JobsHostOptions extends HostOptions {
  /** Entries of the file before the start. Left out: the file stays as it is. */
  readonly jobs?: readonly Readonly<Record<string, unknown>>[];
  /** The process is killed at this pass of a point, once. */
  readonly killAt?: { readonly point: string; readonly pass: number };
  /** Called at each pass of a point. */
  readonly atPoint?: (name: string, host: EngineHost) => Promise<void>;
}

export interface LedgerRow {
  readonly run_id: string;
  readonly job: string;
  readonly due: number | null;
  readonly until: number | null;
  readonly count: number;
  readonly state: string;
  readonly reason: string | null;
}

export interface JobsHost {
  readonly host: EngineHost;
  readonly jobs: HostJobs;
  /** Of a host with `host.kind: workroom`. */
  readonly workroom: WorkroomHost;
  readonly file: string;
  /** True once the process was killed at its point. */
  readonly isKilled: () => boolean;
  write(jobs: readonly Readonly<Record<string, unknown>>[], more?: Readonly<Record<string, unknown>>): void;
  writeText(text: string): void;
  ledger(): readonly LedgerRow[];
  restart(options?: Partial<JobsHostOptions>): Promise<JobsHost>;
}

export const SAY_TO = { endpoint: 'memory~a', conversation: 'room' };
export const say = (text: string) => ({ say: { to: SAY_TO, text } });
/** A job that says its id. */
export const entry = (id: string, timing: Readonly<Record<string, unknown>>) => ({ id, do: say(id), ...timing });

export async function jobsHost(t: Test, options: JobsHostOptions = {}): Promise<JobsHost> {
  let jobs: HostJobs | undefined;
  let passes = 0;
  let isKilled = false;
  let killed: (host: EngineHost) => void = () => {};
  const death = new Promise<EngineHost>((resolve) => {
    killed = resolve;
  });
  const fileOf = (host: EngineHost): string => join(host.project.path, JOBS_FILE);
  const writeText = (host: EngineHost, text: string): void => {
    mkdirSync(dirname(fileOf(host)), { recursive: true });
    writeFileSync(fileOf(host), text);
  };
  let workroom: WorkroomHost | undefined;
  const started = engineHost(t, {
    ...options,
    engine: {
      observer: { handled: () => jobs?.itemEnded() },
      workroom: (run) => workroom?.part(run) ?? {},
      ...options.engine,
    },
    isIdle: () => jobs?.isIdle !== false,
    async beforeStart(host) {
      if (options.jobs !== undefined) writeText(host, JSON.stringify({ version: 1, jobs: options.jobs }));
      const { runtime, timers } = host.engine;
      const room = new WorkroomHost({
        core: host.core,
        config: () => runtime.loaded.config,
        timers: () => timers,
        paths: host.project.paths,
        endpoint: (name) => name,
      });
      await room.open();
      workroom = room;
      jobs = new HostJobs({
        core: host.core,
        engine: host.engine,
        project: host.project.path,
        workroom: () => room.api,
        admit: () => {},
      });
      await jobs.start();
    },
    point(name, host) {
      if (name === options.killAt?.point) passes += 1;
      if (options.killAt === undefined || name !== options.killAt.point || passes !== options.killAt.pass)
        return options.atPoint?.(name, host);
      isKilled = true;
      host.kill();
      killed(host);
      return new Promise<void>(() => {});
    },
  });
  const host = await Promise.race([started, death]);
  if (jobs === undefined || workroom === undefined) throw new Error('the host has no jobs');
  const made = jobs;
  return {
    host,
    jobs: made,
    workroom,
    file: fileOf(host),
    isKilled: () => isKilled,
    write: (entries, more = {}) => writeText(host, JSON.stringify({ version: 1, ...more, jobs: entries }, null, 2)),
    writeText: (text) => writeText(host, text),
    ledger: () =>
      host.rows<LedgerRow>(
        'SELECT run_id, job, due, "until", "count", state, reason FROM job_runs ORDER BY started_at, due, run_id',
      ),
    async restart({ jobs: next, killAt, ...more } = {}) {
      if (!isKilled) {
        await made.stop();
        await host.stop();
      }
      host.clock.clear();
      const { jobs: _jobs, killAt: _killAt, ...kept } = options;
      return jobsHost(t, {
        ...kept,
        project: host.project,
        platform: host.platform,
        clock: host.clock,
        ...(next === undefined ? {} : { jobs: next }),
        ...(killAt === undefined ? {} : { killAt }),
        ...more,
      });
    },
  };
}
