// `svc ingress pause|resume|status`: controls whether deliveries are accepted. The state is stored and survives restarts.
import { randomUUID } from 'node:crypto';
import type { IngressState } from '../../../shared/api/runtime.ts';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import type { Command, CommandContext } from '../command.ts';
import { parseDuration } from '../duration.ts';
import { textOption, wordOption } from '../options.ts';
import { shown } from '../output/printable.ts';

interface Ingress extends IngressState {
  readonly waiting?: Waiting;
}

/** Deliveries that are not handled yet, including those parked while ingress is paused. */
interface Waiting {
  readonly items: number;
  readonly bytes: number;
}

const PATH = '/api/system/ingress';

const pause: Command = {
  noun: 'ingress',
  verb: 'pause',
  summary: 'Pauses the handling of deliveries: parked (stored, acknowledged) or rejected (503)',
  options: [
    { flags: '--mode <mode>', description: 'park or reject', default: 'park' },
    { flags: '--reason <text>', description: 'Shown to operators' },
    { flags: '--for <duration>', description: 'Opens by itself after 90s, 30m, 1h30m, 2d' },
  ],
  examples: ['svc ingress pause --reason "moving the database"', 'svc ingress pause --mode reject --for 30m'],
  async run(context, _args, options) {
    const mode = wordOption(options, 'mode', ['park', 'reject']) ?? 'park';
    const reason = textOption(options, 'reason');
    const duration = textOption(options, 'for');
    const until =
      duration === undefined ? undefined : new Date(Date.now() + parseDuration('--for', duration)).toISOString();
    report(context, await put(context, { state: 'paused', mode, reason, until }));
    return EXIT.ok;
  },
};

const resume: Command = {
  noun: 'ingress',
  verb: 'resume',
  summary: 'Opens it again: what was parked is handled in order',
  examples: ['svc ingress resume'],
  async run(context) {
    report(context, await put(context, { state: 'open' }));
    return EXIT.ok;
  },
};

const status: Command = {
  noun: 'ingress',
  verb: 'status',
  summary: 'Says whether deliveries are taken; exit 0 when open, 1 when paused',
  examples: ['svc ingress status', 'svc ingress status --json'],
  async run(context) {
    const host = await context.host();
    const { body } = await host.request('GET', PATH);
    const ingress = body as Ingress;
    const { inbox: waiting } = (await host.request('GET', '/api/system/status')).body as { readonly inbox?: Waiting };
    report(context, { ...ingress, ...(waiting === undefined ? {} : { waiting }) });
    return ingress.state === 'open' ? EXIT.ok : EXIT.failed;
  },
};

export const commands: Command[] = [pause, resume, status];

async function put({ host }: CommandContext, change: Readonly<Record<string, string | undefined>>): Promise<Ingress> {
  const { body } = await (await host()).request('PUT', PATH, { body: change, idempotencyKey: randomUUID() });
  return body as Ingress;
}

function report({ print, json }: CommandContext, ingress: Ingress): void {
  if (json) return print.json(ingress);
  if (ingress.state === 'open') return print.text('ingress is open');
  print.text(`ingress is paused (${ingress.mode})`);
  for (const name of ['reason', 'until', 'since', 'by'] as const) {
    if (ingress[name] !== null && ingress[name] !== undefined)
      print.text(`${print.color.dim(`${name}:`)} ${shown(ingress[name])}`);
  }
  const { waiting } = ingress;
  if (waiting !== undefined) print.text(`${print.color.dim('waiting:')} ${waiting.items} messages`);
}
