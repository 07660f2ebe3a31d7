// `svc ingress pause|resume|status`: controls whether anything begins. The state is stored and survives restarts. While the host is stopped the
// commands read and write the stored state.
import { setTimeout as delay } from 'node:timers/promises';
import type { IngressPreview, IngressState, IngressStatus } from '../../../shared/api/runtime.ts';
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { readDateTime } from '../../../shared/time/date-time.ts';
import type { Command, CommandContext } from '../command.ts';
import { askIngress, type IngressSource, type Waiting } from '../connect/ingress-source.ts';
import { parseDuration } from '../duration.ts';
import { textOption, wordOption } from '../options.ts';
import { shown } from '../output/printable.ts';

type Ingress = IngressState & Partial<IngressStatus> & { readonly waiting?: Waiting };

const POLL_MS = 200;

const pause: Command = {
  noun: 'ingress',
  verb: 'pause',
  summary: 'Begins nothing new: deliveries are parked (stored, acknowledged) or rejected (503)',
  options: [
    { flags: '--mode <mode>', description: 'park or reject', default: 'park' },
    { flags: '--reason <text>', description: 'Shown to operators' },
    { flags: '--for <duration>', description: 'Opens by itself after 90s, 30m, 1h30m, 2d' },
    { flags: '--until <time>', description: 'Opens by itself at a time such as 2026-01-31T12:00:00Z' },
    { flags: '--wait <duration>', description: 'Waits until nothing runs any more; exit 1 if something still does' },
  ],
  examples: [
    'svc ingress pause --reason "moving the database" --wait 60s',
    'svc ingress pause --mode reject --for 30m',
  ],
  async run(context, _args, options) {
    const mode = wordOption(options, 'mode', ['park', 'reject']) ?? 'park';
    const reason = textOption(options, 'reason');
    const until = untilOf(textOption(options, 'for'), textOption(options, 'until'));
    const wait = textOption(options, 'wait');
    const waitMs = wait === undefined ? undefined : parseDuration('--wait', wait);
    return askIngress(context, async (source) => {
      const state = await source.set({
        state: 'paused',
        mode,
        ...(reason === undefined ? {} : { reason }),
        ...(until === undefined ? {} : { until }),
      });
      if (waitMs === undefined) {
        report(context, state);
        return EXIT.ok;
      }
      return reportQuiet(context, await quietWithin(context, source, waitMs), source);
    });
  },
};

const resume: Command = {
  noun: 'ingress',
  verb: 'resume',
  summary: 'Opens it again: what was held begins in order',
  options: [{ flags: '--dry-run', description: 'Changes nothing, and says what would begin' }],
  examples: ['svc ingress resume --dry-run', 'svc ingress resume'],
  run: (context, _args, options) =>
    askIngress(context, async (source) => {
      if (options['dryRun'] === true) reportPreview(context, await source.preview());
      else report(context, await source.set({ state: 'open' }));
      return EXIT.ok;
    }),
};

const status: Command = {
  noun: 'ingress',
  verb: 'status',
  summary: 'Says whether ingress is open and what still runs; exit 0 when open, 1 when paused',
  examples: ['svc ingress status', 'svc ingress status --json'],
  run: (context) =>
    askIngress(context, async (source) => {
      const ingress = await source.status();
      const waiting = await source.waiting();
      report(context, { ...ingress, ...(waiting === undefined ? {} : { waiting }) });
      return ingress.state === 'open' ? EXIT.ok : EXIT.failed;
    }),
};

export const commands: Command[] = [pause, resume, status];

function untilOf(duration: string | undefined, time: string | undefined): string | undefined {
  if (duration !== undefined && time !== undefined) throw new SvcError('usage', 'take --for or --until, not both');
  if (duration !== undefined) return new Date(Date.now() + parseDuration('--for', duration)).toISOString();
  if (time === undefined) return undefined;
  const at = readDateTime(time);
  if (at === undefined) throw new SvcError('usage', '--until takes a time such as 2026-01-31T12:00:00Z');
  return new Date(at).toISOString();
}

/** The status once the host is quiet, or the last one before the time is over. */
async function quietWithin(
  { print, signal }: CommandContext,
  source: IngressSource,
  waitMs: number,
): Promise<IngressStatus> {
  const endsAt = performance.now() + waitMs;
  for (let told = ''; ; await delay(POLL_MS, undefined, { signal })) {
    const current = await source.status();
    if ((current as Partial<IngressStatus>).quiet === undefined) throw olderHost();
    const leftMs = endsAt - performance.now();
    if (current.quiet || leftMs <= 0 || !source.isUp) return current;
    const text = `waiting: handlers that run: ${current.handlers.length}, sends: ${countOf(current)}`;
    if (text !== told) print.note(text);
    told = text;
  }
}

const olderHost = (): SvcError =>
  new SvcError('refused', 'ingress is paused, but this host is of an older svc, which does not tell what still runs', {
    hint: '`svc runtime restart` starts the installed one, paused',
  });

const countOf = ({ sends }: IngressStatus): number => sends.reduce((sum, { count }) => sum + count, 0);

function reportQuiet(context: CommandContext, ingress: IngressStatus, { isUp }: IngressSource): ExitCode {
  report(context, ingress);
  if (!ingress.quiet && !isUp) context.print.note('sends go out once the host runs: svc runtime start --daemon');
  return ingress.quiet ? EXIT.ok : EXIT.failed;
}

function report({ print, json }: CommandContext, ingress: Ingress): void {
  if (json) return print.json(ingress);
  const line = (name: string, value: string): void => print.text(`${print.color.dim(`${name}:`)} ${value}`);
  if (ingress.state === 'open') print.text('ingress is open');
  else {
    print.text(`ingress is paused (${ingress.mode})`);
    for (const name of ['reason', 'until', 'since', 'by'] as const)
      if (ingress[name] !== null && ingress[name] !== undefined) line(name, shown(ingress[name]));
  }
  const { waiting, quiet, parked, waitingSends = 0, handlers = [], sends = [] } = ingress;
  if (ingress.state === 'paused' && waiting !== undefined && parked === undefined)
    line('waiting', `${waiting.items} messages`);
  if (quiet === undefined) return;
  if (ingress.state === 'paused') line('parked', `${parked ?? 0} items`);
  if (waitingSends > 0) line('sends that wait for their next attempt', `${waitingSends}`);
  line('quiet', quiet ? 'yes' : 'no');
  if (!quiet && handlers.length === 0 && sends.length === 0) print.text('a decision is being stored');
  for (const { handler, item, since } of handlers)
    print.text(`${shown(handler)}  item ${shown(item)}  ${ageOf(since)}`);
  for (const { endpoint, count } of sends) print.text(`${shown(endpoint)}  sends: ${count}`);
}

const ageOf = (since: string): string => `${Math.max(0, Math.round((Date.now() - Date.parse(since)) / 1_000))}s`;

function reportPreview({ print, json }: CommandContext, preview: IngressPreview): void {
  if (json) return print.json(preview);
  const { items, jobs, tasks } = preview;
  if (items.length + jobs.length + tasks.length === 0) return print.text('nothing would begin');
  print.table(
    ['what', 'of', 'count', 'since'],
    [
      ...items.map(({ endpoint, kind, count, oldest }) => [kind, shown(endpoint), `${count}`, shown(oldest)]),
      ...jobs.map(({ job, runs, missed }) => [
        'job',
        shown(job),
        missed > 0 ? `${runs} (${missed} missed)` : `${runs}`,
        '-',
      ]),
      ...tasks.map(({ handler, kind, count, oldest }) => [kind, shown(handler), `${count}`, shown(oldest)]),
    ],
  );
  return undefined;
}
