// `svc workroom verify|export`: proves the journal, with and without a host.
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { RawWorkEvents, WorkOverview } from '../../../../shared/api/workroom.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command } from '../../command.ts';
import { queryOf, textOption } from '../../options.ts';
import { shown } from '../../output/printable.ts';
import { verifyWorkroom } from '../../start/worker-entry.ts';

const PAGE = 500;

const verify: Command = {
  noun: 'workroom',
  verb: 'verify',
  summary: 'Hashes the journal again and compares the catalog; needs no host. Exit 1 with each fault',
  options: [
    { flags: '--expect <seq:hash>', description: 'A head noted earlier, which this history has to hold' },
    { flags: '--file <file>', description: 'An export, instead of the project' },
  ],
  examples: [
    'svc workroom verify',
    'svc workroom verify --expect 120:9f86d0…',
    'svc workroom verify --file board.ndjson',
  ],
  async run({ print, json, project, cwd, env }, _args, options) {
    const file = textOption(options, 'file');
    const expect = headOf(textOption(options, 'expect'));
    const of = file === undefined ? { project: project(), environment: env } : { file: resolve(cwd, file) };
    const { head, faults, hidden } = await verifyWorkroom({ ...of, expect });
    if (json) print.json({ head, faults, ...(hidden === undefined ? {} : { hidden }) });
    else if (faults.length === 0)
      print.text(head.seq === 0 ? 'the journal is empty' : `${head.seq} events hold, up to ${head.seq}:${head.hash}`);
    else
      print.table(
        ['seq', 'stream', 'fault'],
        faults.map(({ seq, stream, fault }) => [seq === 0 ? '' : String(seq), shown(stream ?? ''), fault]),
      );
    if (!json && hidden !== undefined && hidden.length > 0) print.text(hiddenText(hidden, head.seq));
    return faults.length === 0 ? EXIT.ok : EXIT.failed;
  },
};

const exportIt: Command = {
  noun: 'workroom',
  verb: 'export',
  summary: 'Writes the journal as NDJSON, for `verify --file` on any machine',
  options: [
    { flags: '--to <file>', description: 'The file; it is there whole or not at all' },
    { flags: '--board <board>', description: 'Events of other boards and of the team are their digests alone' },
  ],
  examples: ['svc workroom export --to board.ndjson', 'svc workroom export --board web --to web.ndjson'],
  async run({ host, print, json, cwd }, _args, options) {
    const to = textOption(options, 'to');
    if (to === undefined) throw new SvcError('usage', '--to is missing: --to board.ndjson');
    const target = resolve(cwd, to);
    const board = textOption(options, 'board');
    const client = await host();
    const { head, project } = (await client.request('GET', '/api/workroom')).body as WorkOverview;
    const part = `${target}.part`;
    const descriptor = openSync(part, 'w', 0o600);
    const write = (line: unknown): void => void writeSync(descriptor, `${JSON.stringify(line)}\n`);
    try {
      write({ svc: 'workroom-export', version: 1, project, head, board: board ?? null });
      for (let after = 0; after < head.seq; ) {
        const path = `/api/workroom/events${queryOf({ after, limit: PAGE, raw: 1 })}`;
        const { events } = (await client.request('GET', path)).body as RawWorkEvents;
        events.filter(({ seq }) => seq <= head.seq).forEach((event) => write(shownIn(event, board)));
        after = events.at(-1)?.seq ?? head.seq;
      }
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(part, target);
    if (json) print.json({ file: target, head });
    else print.text(`${head.seq} events in ${target}, up to ${head.seq}:${head.hash}`);
    return EXIT.ok;
  },
};

export const commands: Command[] = [verify, exportIt];

/** What an export does not show: whoever passed it on may have hidden more than other boards. */
function hiddenText(hidden: readonly { readonly from: number; readonly to: number }[], last: number): string {
  const count = hidden.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const ranges = hidden.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
  const isLast = hidden.at(-1)?.to === last ? ', the last event among them' : '';
  return `of ${count} events only the digest is there, so what they say is not known${isLast}: ${ranges}`;
}

/** An event of another board, or of the team, is its digest alone. */
function shownIn(event: RawWorkEvents['events'][number], board: string | undefined): unknown {
  const { seq, digest, hash, stream } = event;
  const isShown = board === undefined || stream === `board/${board}` || stream.startsWith(`item/${board}-`);
  return isShown ? event : { seq, digest, hash };
}

function headOf(text: string | undefined): { readonly seq: number; readonly hash: string } | undefined {
  if (text === undefined) return undefined;
  const [, seq = '', hash = ''] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === '') throw new SvcError('usage', '--expect takes <seq>:<hash>, as `svc workroom verify` prints it');
  return { seq: Number(seq), hash };
}
