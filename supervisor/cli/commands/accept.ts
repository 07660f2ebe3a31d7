// `svc accept`: the six questions about the running host. Asks for health itself, says something in the sandbox, and stores what was accepted.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type {
  Acceptance,
  AcceptanceFacts,
  AcceptanceRow,
  HealthAnswer,
} from '../../../shared/api/recovery/acceptance.ts';
import { stableJson, writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { uuidv7 } from '../../../shared/identifiers.ts';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { ACCEPTANCE_ROWS, isAccepted, judgeAcceptance, type Settled } from '../../../shared/recovery/acceptance.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { Command, CommandContext, HostClient } from '../command.ts';
import { askHealth } from '../connect/ask-health.ts';
import { parseDuration } from '../duration.ts';
import { queryOf, textOption, textsOption } from '../options.ts';
import { shown } from '../output/printable.ts';
import { unknownWord } from '../output/usage-error.ts';
import { type Mask, maskFor } from '../release/masked.ts';

const ADDRESS = '/api/system/acceptance';
const POLL_MS = 500;
/** What is said in the sandbox is handled within this time, or is no evidence. */
const SANDBOX_MS = 10_000;
const MOST_REASON = 500;

export const command: Command = {
  noun: 'accept',
  summary: 'Answers six questions about the running host; exit 0 when each is yes, or an unknown that you settle',
  options: [
    { flags: '--within <duration>', description: 'Counts messages of so long ago; a release has its own begin' },
    {
      flags: '--settle <row=reason>',
      description: `Settles an unknown of ${ACCEPTANCE_ROWS.join(', ')}; may be repeated`,
      isRepeated: true,
    },
    { flags: '--wait <duration>', description: 'Asks again until everything is answered, at most so long' },
  ],
  examples: [
    'svc accept --wait 60s',
    'svc accept --settle host="first release"',
    'svc accept --within 7d --settle endpoints="nobody writes at night" --json',
  ],
  writesState: true,
  async run(context, _args, options) {
    const within = parseDuration('--within', textOption(options, 'within') ?? '24h') / 1_000;
    const wait = textOption(options, 'wait');
    const waitMs = wait === undefined ? 0 : parseDuration('--wait', wait);
    const project = context.project();
    const settled = settledBy(textsOption(options, 'settle'), maskFor({ project, env: context.env }));
    const client = await context.host();
    const { rows, facts } = await judgedWithin(context, client, { within, waitMs, settled });
    const acceptance: Acceptance = isAccepted(rows)
      ? ((await client.request('POST', ADDRESS, { body: { settled, within, health: facts.health } }))
          .body as Acceptance)
      : { accepted: false, id: null, rows, facts };
    const report = writeReport(project, acceptance);
    tell(context, acceptance, { report, settled });
    return acceptance.accepted ? EXIT.ok : EXIT.failed;
  },
};

/** `host=first release`. Throws `usage`. The report is a file of its own: no secret gets there. */
function settledBy(given: readonly string[], mask: Mask): Settled {
  const settled: Partial<Record<string, string>> = {};
  for (const text of given) {
    const at = text.indexOf('=');
    const [row, reason] = [text.slice(0, at), text.slice(at + 1).trim()];
    if (at < 1 || reason === '' || reason.length > MOST_REASON)
      throw new SvcError('usage', `--settle takes ROW=REASON, and a reason of at most ${MOST_REASON} characters`, {
        hint: `svc accept --settle host="first release"; rows are ${ACCEPTANCE_ROWS.join(', ')}`,
      });
    if (!ACCEPTANCE_ROWS.some((known) => known === row)) throw unknownWord('row', row, ACCEPTANCE_ROWS);
    settled[row] = mask(reason);
  }
  return settled;
}

interface Asked {
  readonly within: number;
  readonly waitMs: number;
  readonly settled: Settled;
}

/** The rows once all are answered, or the last ones before the time is over. */
async function judgedWithin(context: CommandContext, client: HostClient, asked: Asked): Promise<Acceptance> {
  const startedAt = performance.now();
  let endsAt = startedAt + asked.waitMs;
  let hasSaid = false;
  for (let told = ''; ; await pause(POLL_MS, undefined, { signal: context.signal })) {
    const { facts: found } = (await client.request('GET', `${ADDRESS}${queryOf({ within: asked.within })}`))
      .body as Acceptance;
    const health: HealthAnswer[] = await askHealth({ address: found.address, bound: client.url }, context.signal);
    const facts = { ...found, health };
    const rows = judgeAcceptance(facts, asked.settled);
    if (!hasSaid && facts.endpoints.some(isUnheard)) {
      hasSaid = true;
      if (await sayInSandbox(client)) endsAt = Math.max(endsAt, performance.now() + SANDBOX_MS);
    }
    if (isAccepted(rows) || performance.now() >= endsAt || !mayChange(rows, { hasSaid, asked }))
      return { accepted: false, id: null, rows, facts };
    const text = `waiting: ${missing(rows)}`;
    if (text !== told && asked.waitMs > 0) context.print.note(shown(text));
    told = text;
  }
}

/** Without `--wait` only the answer of the sandbox is waited for. */
const mayChange = (
  rows: readonly AcceptanceRow[],
  { hasSaid, asked }: { readonly hasSaid: boolean; readonly asked: Asked },
): boolean =>
  asked.waitMs > 0 || (hasSaid && rows.some(({ row, answer }) => row === 'endpoints' && answer === 'unknown'));

const isUnheard = ({ isSandbox, state, handled, open, dead }: AcceptanceFacts['endpoints'][number]): boolean =>
  isSandbox && state === 'online' && handled + open + dead === 0;

/** False where it takes nothing now: the row stays unknown. */
async function sayInSandbox(client: HostClient): Promise<boolean> {
  const body = { person: 'svc accept', text: 'svc accept: is anybody there?', delivery: `accept-${uuidv7()}` };
  return client.request('POST', '/api/chat/say', { body }).then(
    () => true,
    () => false,
  );
}

function writeReport(project: string, acceptance: Acceptance): string {
  const { reportsDir } = projectPaths(project);
  mkdirSync(reportsDir, { recursive: true, mode: 0o700 });
  const file = join(reportsDir, `acceptance-${acceptance.facts.at.replaceAll(/[:.]/g, '-')}.json`);
  writeFileAtomic(file, stableJson(acceptance));
  return file;
}

const isOpen = ({ answer, settled }: AcceptanceRow): boolean => answer !== 'yes' && settled === null;

const missing = (rows: readonly AcceptanceRow[]): string =>
  rows
    .filter(isOpen)
    .map(({ row, answer, evidence: [first] }) => `${row} ${answer} (${first})`)
    .join('; ');

function tell(
  { print }: CommandContext,
  acceptance: Acceptance,
  { report, settled }: { readonly report: string; readonly settled: Settled },
): void {
  const { rows, accepted, id } = acceptance;
  print.json(acceptance);
  for (const [index, { row, answer, evidence, remedy, settled: reason }] of rows.entries()) {
    const paint = { yes: print.color.good, no: print.color.bad, unknown: print.color.warn }[answer];
    const [first = '', ...more] = evidence.map(shown);
    print.text(`${index + 1} ${row.padEnd(10)} ${paint((answer === 'no' ? 'NO' : answer).padEnd(7))} ${first}`);
    for (const line of more) print.text(`${' '.repeat(21)}${line}`);
    if (reason !== null) print.text(`${' '.repeat(21)}settled: ${shown(reason)}`);
    else if (remedy !== null) print.text(`${' '.repeat(21)}${print.color.dim(`→ ${shown(remedy)}`)}`);
    if (answer === 'no' && settled[row as keyof Settled] !== undefined)
      print.note(`${row} is no: a reason settles an unknown, never a no`);
  }
  print.text(`report: ${report}`);
  if (accepted) print.text(print.color.good(`accepted, as number ${id}`));
  else print.note(shown(`not accepted: ${missing(rows)}`));
}
