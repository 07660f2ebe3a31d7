// `svc events tail`: follows the event stream over restarts. A gap is shown as a line of its own.
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Command, CommandContext, Printer } from '../command.ts';
import { followEvents, type StreamMessage } from '../connect/event-follower.ts';
import { textOption } from '../options.ts';
import { shown } from '../output/printable.ts';

export const command: Command = {
  noun: 'events',
  verb: 'tail',
  summary: 'Follows the event stream; resumes by itself and shows gaps',
  options: [
    { flags: '--types <types>', description: 'Event types, comma separated: endpoint.*,ready.changed' },
    { flags: '--endpoints <endpoints>', description: 'Endpoints, comma separated' },
    { flags: '--after <id>', description: 'Begin after this id; "oldest": with the oldest event there is' },
    { flags: '--no-follow', description: 'End when what is stored has been printed' },
    { flags: '--json', description: 'A JSON document a line on stdout, one for each event or gap' },
  ],
  examples: [
    'svc events tail',
    'svc events tail --types endpoint.*,ready.changed',
    'svc events tail --after oldest --no-follow --json',
  ],
  async run(context, _args, options) {
    const after = textOption(options, 'after');
    if (after !== undefined && after !== 'oldest' && !/^[a-z0-9]{16}\.\d{1,16}$/.test(after))
      throw new SvcError('usage', '--after takes the id of an event, such as 2zh5txumh597sl7z.12, or oldest');
    const follow = options['follow'] !== false;
    await followEvents(
      context,
      {
        types: textOption(options, 'types'),
        endpoints: textOption(options, 'endpoints'),
        after: after === 'oldest' ? await oldestId(context) : after,
      },
      {
        message: (message) => {
          show(message, context);
          return message.event === 'svc.live' && !follow ? 'stop' : undefined;
        },
        lost: (why) => context.print.note(`${why}; trying again`),
      },
    );
    return EXIT.ok;
  },
};

/** The id before the oldest event, so that the stream starts with that event. */
async function oldestId({ host }: Pick<CommandContext, 'host'>): Promise<string> {
  const { body } = await (await host()).request('GET', '/api/events?format=json&limit=1');
  const page = body as { readonly epoch?: unknown; readonly oldest?: unknown };
  if (typeof page.epoch !== 'string' || typeof page.oldest !== 'number')
    throw new SvcError('internal', 'the host gave no page of events');
  return `${page.epoch}.${page.oldest - 1}`;
}

function show({ id, event, data }: StreamMessage, { print, json }: Pick<CommandContext, 'print' | 'json'>): void {
  switch (event) {
    case 'svc.hello':
    case 'svc.bookmark':
      return;
    case 'svc.live':
      return print.note('live');
    case 'svc.drain':
      return print.note('the host ends the stream: it stops or restarts');
    case 'svc.gap':
      return json ? print.line({ event, id, data }) : print.text(gapLine(id, data, print));
    default:
      return json ? print.line(data) : print.text(eventLine(data, print));
  }
}

function gapLine(id: string | undefined, { reason, missed }: StreamMessage['data'], { color }: Printer): string {
  const extent = typeof missed === 'number' ? `${missed} events are missing` : 'events may be missing';
  return color.warn(`-- gap: ${shown(reason)}; ${extent}; goes on after ${shown(id)}`);
}

function eventLine(envelope: StreamMessage['data'], { color }: Printer): string {
  const { time, id, type, endpoint, actor } = envelope;
  const fields = Object.entries((envelope['data'] ?? {}) as Readonly<Record<string, unknown>>).map(
    ([name, value]) => `${name}=${shown(value)}`,
  );
  const where = endpoint === undefined ? '' : ` ${shown(endpoint)}`;
  const who = actor === undefined ? '' : ` by ${shown(actor)}`;
  return `${color.dim(`${shown(time)} ${shown(id)}`)} ${color.bold(shown(type))}${where}${who} ${fields.join(' ')}`.trimEnd();
}
