// `svc jobs add|edit|remove|pause|resume|run`.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { noJob } from '../../../../shared/jobs/change-jobs.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command, CommandContext } from '../../command.ts';
import { textArgument } from '../../options.ts';
import { shown } from '../../output/printable.ts';
import { ENTRY_FLAGS, entryWith, UNSET_FLAG } from './entry-flags.ts';
import { type JobChange, jobsSource } from './jobs-source.ts';

const POLL_MS = 300;

async function change(
  context: CommandContext,
  id: string,
  { done, ...of }: { readonly done: string; readonly change: JobChange },
) {
  const { print, json } = context;
  const source = await jobsSource(context);
  const entry = await source.change(id, of.change);
  if (json) print.json(entry ?? { id });
  else {
    const next = entry?.['next'];
    print.text(`${id} ${done}${typeof next === 'string' ? `: next due ${next}` : ''}`);
    if (source.client === undefined) print.note('no host runs here: the file is taken in at the next start');
  }
  return EXIT.ok;
}

export const add: Command = {
  noun: 'jobs',
  verb: 'add',
  args: '<id>',
  summary: 'Adds a job to data/schedule-jobs.json',
  options: ENTRY_FLAGS,
  examples: [
    'svc jobs add standup --cron "0 9 * * 1-5" --timezone Europe/Berlin --say "Stand-up!" --to irc~libera:#web',
    'svc jobs add digest --every 15m --command "/digest short" --to irc~libera:#web',
    'svc jobs add renew --cron "0 9 1 * *" --item "Renew the certificate" --board web --assign ann --due 3d',
  ],
  run(context, [argument], options) {
    const id = textArgument(argument, '<id>');
    const entryOf = (former: unknown) => {
      if (former !== undefined)
        throw new SvcError('conflict', `there is a job ${id} already`, { hint: `svc jobs edit ${id}` });
      return { id, ...entryWith(options, undefined) };
    };
    return change(context, id, {
      done: 'is added',
      change: { kind: 'put', entryOf, isForced: options['force'] === true },
    });
  },
};

export const edit: Command = {
  noun: 'jobs',
  verb: 'edit',
  args: '<id>',
  summary: 'Changes keys of a job, or takes them out',
  options: [...ENTRY_FLAGS, UNSET_FLAG],
  examples: ['svc jobs edit standup --cron "30 9 * * 1-5"', 'svc jobs edit standup --unset jitter,title'],
  run(context, [argument], options) {
    const id = textArgument(argument, '<id>');
    const entryOf = (former: Readonly<Record<string, unknown>> | undefined) => {
      if (former === undefined) throw noJob(id);
      return entryWith(options, former);
    };
    return change(context, id, {
      done: 'is changed',
      change: { kind: 'put', entryOf, isForced: options['force'] === true },
    });
  },
};

const simple = (verb: 'remove' | 'pause' | 'resume', summary: string, done: string): Command => ({
  noun: 'jobs',
  verb,
  args: '<id>',
  summary,
  examples: [`svc jobs ${verb} standup`],
  run: (context, [argument]) => change(context, textArgument(argument, '<id>'), { done, change: { kind: verb } }),
});

export const remove = simple('remove', 'Removes a job; an open run goes on, waiting ones are skipped', 'is removed');
export const pauseJob = simple('pause', 'Pauses a job: what is due meanwhile is not missed', 'is paused');
export const resume = simple('resume', 'Goes on with a paused job from now', 'goes on');

interface Run {
  readonly runId: string;
  readonly state: string;
  readonly reason?: string | null;
}

export const run: Command = {
  noun: 'jobs',
  verb: 'run',
  args: '<id>',
  summary: 'Runs a job now and waits for its end; exit 0 when it is done',
  examples: ['svc jobs run standup'],
  async run({ host, print, json, signal }, [argument]) {
    const id = textArgument(argument, '<id>');
    const client = await host();
    const path = `/api/jobs/${encodeURIComponent(id)}`;
    const change = { body: {}, idempotencyKey: randomUUID() };
    const { runId } = (await client.request('POST', `${path}/run`, change)).body as { readonly runId: string };
    for (;;) {
      const { runs } = (await client.request('GET', `${path}/runs?limit=200`)).body as {
        readonly runs: readonly Run[];
      };
      const found = runs.find((one) => one.runId === runId);
      if (found !== undefined && found.state !== 'running') {
        if (json) print.json(found);
        else print.text(`${id} is ${found.state}${found.reason == null ? '' : `: ${shown(found.reason)}`}`);
        return found.state === 'done' ? EXIT.ok : EXIT.failed;
      }
      await pause(POLL_MS, undefined, { signal });
    }
  },
};
