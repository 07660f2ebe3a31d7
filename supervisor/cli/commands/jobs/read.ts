// `svc jobs list|show|history|next|check`.
import { basename, resolve } from 'node:path';
import { dotted } from '../../../../shared/config/fault.ts';
import { noJob, readSource } from '../../../../shared/jobs/change-jobs.ts';
import { dueTimes } from '../../../../shared/jobs/due-times.ts';
import { JOBS_FILE, type Job } from '../../../../shared/jobs/job.ts';
import { checkJobs, jobsFaultLine, readJobsFile } from '../../../../shared/jobs/jobs-file.ts';
import { EXIT, type ExitCode } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import { readDateTime } from '../../../../shared/time/date-time.ts';
import type { Command, Printer } from '../../command.ts';
import { countOption, queryOf, textArgument, textOption } from '../../options.ts';
import { shown } from '../../output/printable.ts';
import { type JobsView, jobsSource, type ShownJob, zoneOf } from './jobs-source.ts';

export const list: Command = {
  noun: 'jobs',
  verb: 'list',
  summary: 'Lists jobs with next due time and last run; exit 1 while the file is refused',
  examples: ['svc jobs list', 'svc jobs list --json'],
  async run(context) {
    const { print, json } = context;
    const source = await jobsSource(context);
    const view = await source.list();
    if (json) print.json(view);
    else {
      tellRefused(print, view);
      if (view.jobs.length === 0) print.text('no jobs: svc jobs add makes one');
      else
        print.table(
          ['job', 'when', 'next', 'last run', 'target'],
          view.jobs.map((job) => [
            job.id,
            whenOf(job),
            nextText(job),
            lastText(job),
            shown(job['target'] ?? 'not running'),
          ]),
        );
    }
    return refusedCode(view);
  },
};

export const show: Command = {
  noun: 'jobs',
  verb: 'show',
  args: '<id>',
  summary: 'Shows one job; exit 1 while the file is refused',
  examples: ['svc jobs show standup'],
  async run(context, [argument]) {
    const { print, json } = context;
    const id = textArgument(argument, '<id>');
    const view = await (await jobsSource(context)).list();
    const job = view.jobs.find((one) => one.id === id);
    if (!json) tellRefused(print, view);
    if (job === undefined) throw noJob(id);
    if (json) print.json(job);
    else
      for (const [name, value] of Object.entries(job))
        print.text(
          `${print.color.dim(`${name}:`)} ${name === 'last' ? lastText(job) : name === 'next' ? nextText(job) : shown(value)}`,
        );
    return refusedCode(view);
  },
};

interface Run {
  readonly job: string;
  readonly due: string | null;
  readonly until?: string;
  readonly count?: number;
  readonly state: string;
  readonly startedAt: string;
  readonly reason?: string | null;
}

export const history: Command = {
  noun: 'jobs',
  verb: 'history',
  args: '[id]',
  summary: 'Lists runs, the newest first',
  options: [{ flags: '-n, --lines <n>', description: 'How many', default: 20 }],
  examples: ['svc jobs history', 'svc jobs history standup -n 50'],
  async run({ host, print, json }, [id], options) {
    const client = await host();
    const path = typeof id === 'string' ? `/api/jobs/${encodeURIComponent(id)}/runs` : '/api/job-runs';
    const limit = Math.min(200, countOption(options, 'lines') ?? 20);
    const { runs } = (await client.request('GET', `${path}${queryOf({ limit })}`)).body as {
      readonly runs: readonly Run[];
    };
    if (json) print.json({ runs });
    else if (runs.length === 0) print.text('no run yet');
    else
      print.table(
        ['job', 'due', 'state', 'started', 'reason'],
        runs.map((run) => [run.job, dueText(run), run.state, run.startedAt, shown(run.reason ?? '')]),
      );
    return EXIT.ok;
  },
};

const MOST_NEXT = 1_000;

export const next: Command = {
  noun: 'jobs',
  verb: 'next',
  args: '<id>',
  summary: 'Says when a job is due, in UTC and its time zone',
  options: [
    { flags: '-n, --lines <n>', description: 'How many', default: 10 },
    { flags: '--from <time>', description: 'After this time: 2026-03-28T00:00:00Z; default now' },
  ],
  examples: ['svc jobs next standup', 'svc jobs next standup -n 3 --from 2026-03-28T00:00:00Z'],
  async run({ project, env, print, json }, [argument], options) {
    const id = textArgument(argument, '<id>');
    const folder = project();
    const zone = zoneOf(folder, env);
    const now = Date.now();
    const { jobs } = await readSource(resolve(folder, JOBS_FILE), { zone, now });
    const job = jobs.find((one) => one.id === id);
    if (job === undefined) throw noJob(id);
    const text = textOption(options, 'from');
    const from = text === undefined ? now : readDateTime(text);
    if (from === undefined) throw new SvcError('usage', '--from takes a time such as 2026-03-28T00:00:00Z');
    const dues = await duesOf(job, { zone, from, count: Math.min(MOST_NEXT, countOption(options, 'lines') ?? 10) });
    if (json) print.json({ id, paused: job.paused, dues });
    else if (dues.length === 0) print.text(`${id} is not due any more`);
    else {
      if (job.paused) print.note(`${id} is paused: svc jobs resume ${id}`);
      for (const { due, local, moved } of dues)
        print.text(`${due}  ${local}${moved ? print.color.warn('  moved by daylight saving') : ''}`);
    }
    return EXIT.ok;
  },
};

export const check: Command = {
  noun: 'jobs',
  verb: 'check',
  args: '[file]',
  summary: 'Checks the file: 0, or 78 with all faults',
  examples: ['svc jobs check', 'svc jobs check new-jobs.json'],
  async run({ project, env, cwd, print, json }, [given]) {
    const folder = project();
    const path = typeof given === 'string' ? resolve(cwd, given) : resolve(folder, JOBS_FILE);
    const name = typeof given === 'string' ? basename(path) : JOBS_FILE;
    const file = readJobsFile(path);
    if (file.kind === 'absent')
      throw new SvcError('not_found', `there is no file ${name}`, { hint: 'svc jobs add makes it' });
    const checked =
      file.kind === 'refused'
        ? { kind: 'invalid' as const, faults: [file.fault] }
        : await checkJobs(file.text, { zone: zoneOf(folder, env), now: Date.now() });
    const faults = checked.kind === 'invalid' ? checked.faults.map((fault) => ({ ...fault, file: name })) : [];
    const count = checked.kind === 'valid' ? checked.document.jobs.length : 0;
    if (json) print.json({ ok: faults.length === 0, faults });
    else if (faults.length === 0) print.text(`${name}: ${count} ${count === 1 ? 'job' : 'jobs'}, no fault`);
    else for (const fault of faults) print.text(jobsFaultLine(fault));
    return faults.length === 0 ? EXIT.ok : EXIT.config;
  },
};

async function duesOf(
  job: Job,
  { zone, from, count }: { readonly zone: string; readonly from: number; readonly count: number },
): Promise<readonly { readonly due: string; readonly local: string; readonly moved: boolean }[]> {
  const times = await dueTimes(job.timing, zone);
  const own = (job.timing.kind === 'every' ? undefined : job.timing.timezone) ?? zone;
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: own, dateStyle: 'short', timeStyle: 'medium' });
  const dues = [];
  for (let at = times.next(from); at !== undefined && dues.length < count; at = times.next(at))
    dues.push({ due: new Date(at).toISOString(), local: `${format.format(at)} ${own}`, moved: !times.isAtItsTime(at) });
  return dues;
}

function tellRefused(print: Printer, { file }: JobsView): void {
  if (file.fault === null) return;
  const { line, column, path, message } = file.fault;
  print.text(print.color.bad(`${JOBS_FILE}:${line}:${column} ${path === '' ? '' : `${dotted(path)} `}${message}`));
}

const refusedCode = ({ file }: JobsView): ExitCode => (file.state === 'refused' ? EXIT.failed : EXIT.ok);

const whenOf = (job: ShownJob): string =>
  shown(job['cron'] ?? job['at'] ?? (job['every'] === undefined ? '' : `every ${String(job['every'])}`));
const nextText = (job: ShownJob): string => (job['paused'] === true ? 'paused' : shown(job['next'] ?? 'never'));

function lastText(job: ShownJob): string {
  const last = job['last'] as Run | null | undefined;
  return last == null ? '-' : `${last.state} ${last.startedAt}${last.reason == null ? '' : ` (${shown(last.reason)})`}`;
}

const dueText = ({ due, until, count }: Run): string =>
  due === null ? 'by hand' : until === undefined ? due : `${due} to ${until} (${count})`;
