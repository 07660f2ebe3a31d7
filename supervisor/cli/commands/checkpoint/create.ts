// `svc checkpoint create`: the running host makes it; without one the command does, under the writer lock.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Checkpoints } from '../../../../shared/api/recovery/checkpoint.ts';
import { ERRORS, type ErrorCode } from '../../../../shared/error-codes.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command, CommandContext } from '../../command.ts';
import { findRunning } from '../../connect/control-client.ts';
import { textOption } from '../../options.ts';
import { byteText } from '../../output/byte-text.ts';
import { shown } from '../../output/printable.ts';
import { type ProgressLine, progressLine } from '../../output/progress-line.ts';
import { makeStopped } from '../../start/worker-entry.ts';

interface Made {
  readonly name: string;
  readonly bytes: number;
  readonly ms: number;
  readonly holdMs: number;
  /** Values of the database that hold a secret. */
  readonly secretHits: number;
  readonly warnings: readonly string[];
}

interface Asked {
  readonly project: string;
  readonly reason: string | null;
  readonly line: ProgressLine;
}

const POLL_MS = 250;

const create: Command = {
  noun: 'checkpoint',
  verb: 'create',
  summary: 'Makes a restore point of database, jobs, configuration and code, running or stopped',
  options: [{ flags: '--reason <text>', description: 'Kept in the manifest, shown in lists' }],
  examples: ['svc checkpoint create', 'svc checkpoint create --reason "before the move"'],
  async run(context, _args, options) {
    const reason = textOption(options, 'reason') ?? null;
    const project = context.project();
    const line = progressLine();
    try {
      const isRunning = (await findRunning(project)) !== undefined;
      const made = await (isRunning ? byHost : byCommand)(context, { project, reason, line });
      line.end();
      report(context, made);
    } finally {
      line.end();
    }
    return EXIT.ok;
  },
};

async function byCommand({ env }: CommandContext, { project, reason, line }: Asked): Promise<Made> {
  const { manifest, bytes, ms, holdMs, secretHits, warnings } = await makeStopped({
    project,
    environment: env,
    reason,
    onProgress: ({ name, copied, of }) => line.show(progressText(name, copied, of)),
  });
  return { name: manifest.name, bytes, ms, holdMs, secretHits, warnings };
}

/** Waits for its end. Ctrl-C ends the wait; the host goes on. */
async function byHost({ host, signal }: CommandContext, { reason, line }: Asked): Promise<Made> {
  const client = await host();
  const asked = { body: reason === null ? {} : { reason }, idempotencyKey: randomUUID() };
  const { name } = (await client.request('POST', '/api/checkpoints', asked)).body as { readonly name: string };
  for (;;) {
    const all = (await client.request('GET', '/api/checkpoints')).body as Checkpoints;
    const { running, last, failure } = all;
    if (last?.name === name) return { ...last, warnings: last.warnings ?? [] };
    if (failure?.name === name) throw failureOf(failure);
    if (running?.name !== name) throw lostOf(name, all);
    line.show(progressText(name, running.copiedBytes, running.totalBytes));
    await pause(POLL_MS, undefined, { signal });
  }
}

function failureOf({ code, message = code, hint }: NonNullable<Checkpoints['failure']>): SvcError {
  const known = Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'internal';
  return new SvcError(known, message, hint == null ? {} : { hint });
}

/** The host has begun anew meanwhile, or another checkpoint was made since. */
const lostOf = (name: string, { checkpoints }: Checkpoints): SvcError =>
  checkpoints.some((one) => one.name === name)
    ? new SvcError('conflict', `${name} was made, but the host tells no more of it`, {
        hint: `svc checkpoint show ${name}`,
      })
    : new SvcError('conflict', `the host began anew before ${name} was made`, { hint: 'run the command again' });

const progressText = (name: string, copied: number, of: number): string =>
  of === 0
    ? `${name}: begins`
    : copied < of
      ? `${name}: copying ${Math.floor((100 * copied) / of)} %`
      : `${name}: checking`;

function report({ print, json }: CommandContext, made: Made): void {
  if (json) return print.json(made);
  for (const warning of made.warnings) print.note(`${print.color.warn('warning:')} ${shown(warning)}`);
  if (made.secretHits > 0)
    print.note(
      `${print.color.warn('warning:')} ${made.secretHits} values of the database hold a secret; keep this checkpoint as you keep .env`,
    );
  print.text(`${print.color.good(made.name)} made, ${byteText(made.bytes)}, ${(made.ms / 1_000).toFixed(1)} s`);
  print.text(print.color.dim(`svc checkpoint verify ${made.name} proves that it can be restored`));
}

export const commands: Command[] = [create];
