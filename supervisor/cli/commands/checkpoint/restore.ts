// `svc checkpoint restore`: shows the plan, asks for the name, and restores. The host is stopped.
import { EXIT, type ExitCode } from '../../../../shared/process/exit-codes.ts';
import { commandOf, FINISH_COMMAND } from '../../../../shared/recovery/pending-switch.ts';
import { SvcError } from '../../../../shared/svc-error.ts';
import type { Command, CommandContext } from '../../command.ts';
import { findRunning } from '../../connect/control-client.ts';
import { textOption, wordOption } from '../../options.ts';
import { byteText } from '../../output/byte-text.ts';
import { progressLine } from '../../output/progress-line.ts';
import { notHeldText, type Plan, planLines } from '../../output/restore-text.ts';
import { finishPending, readRestorePlan, restore } from '../../start/worker-entry.ts';

const command: Command = {
  noun: 'checkpoint',
  verb: 'restore',
  args: '[name]',
  summary: 'Restores database, jobs and journal of a checkpoint, after a plan; the host is stopped',
  options: [
    { flags: '--dry-run', description: 'Prints the plan, with its digest; a host may run' },
    { flags: '--yes', description: 'For scripts, with --plan: asks nothing' },
    { flags: '--plan <digest>', description: 'The plan that was agreed to; refused when the state has moved since' },
    { flags: '--no-carry', description: 'Nothing of the time since comes along' },
    { flags: '--open <what>', description: 'Without carry, open items of the checkpoint: handle or drop' },
    { flags: '--undo', description: 'Goes back to the state that the last restore replaced' },
    { flags: '--finish', description: 'Finishes a restore that was decided and cut' },
  ],
  examples: [
    'svc checkpoint restore c12 --dry-run',
    'svc checkpoint restore c12',
    'svc checkpoint restore c12 --yes --plan 1f0c2a9be44d7a10',
    'svc checkpoint restore --undo',
  ],
  writesState: true, // a plan takes the writer lock, and makes its file
  async run(context, [given], options) {
    const project = context.project();
    if (options['finish'] === true) return finish(context, project);
    const request = {
      project,
      environment: context.env,
      name: nameOf(given, options['undo'] === true),
      carry: options['carry'] !== false,
      open: wordOption(options, 'open', ['handle', 'drop']),
    };
    const agreed = textOption(options, 'plan');
    const isDry = options['dryRun'] === true;
    if (!isDry) await refuseRunning(project);
    const plan = await readRestorePlan(request);
    if (isDry) return tellPlan(context, plan);
    const digest = await agree(context, plan, { yes: options['yes'] === true, agreed });
    if (digest === undefined) return EXIT.failed;
    const line = progressLine();
    try {
      const restored = await restore({
        ...request,
        digest,
        onProgress: (copied, of) => line.show(`copying ${byteText(copied)} of ${byteText(of)}`),
      });
      line.end();
      tell(context, restored);
    } finally {
      line.end();
    }
    return EXIT.ok;
  },
};

export const commands: Command[] = [command];

function nameOf(given: string | readonly string[] | undefined, undo: boolean): string | undefined {
  if (undo === (given === undefined)) return typeof given === 'string' ? given : undefined;
  throw new SvcError('usage', undo ? '--undo takes no name' : 'the name of the checkpoint is missing', {
    hint: 'svc checkpoint list',
  });
}

/** A supervisor that waits to start its worker holds no lock, so the supervisor is asked as well. */
async function refuseRunning(project: string): Promise<void> {
  const running = await findRunning(project);
  if (running === undefined) return;
  const { status } = running;
  const stop = status.ownerStop ?? 'svc runtime stop';
  throw new SvcError('already_running', `a host of this project runs as pid ${status.pid ?? status.supervisorPid}`, {
    hint: `stop it first: ${stop}; --dry-run prints the plan beside it`,
    details: { pid: status.pid ?? status.supervisorPid, owner: status.owner },
  });
}

function tellPlan({ print, json }: CommandContext, plan: Plan): ExitCode {
  if (json) print.json(plan);
  else {
    for (const line of planLines(plan, Date.now())) print.text(line);
    print.text(print.color.dim(`plan ${plan.digest}`));
  }
  return EXIT.ok;
}

/** The digest that was agreed to; undefined if a person said no. */
async function agree(
  { print, interactive, json }: CommandContext,
  plan: Plan,
  { yes, agreed }: { readonly yes: boolean; readonly agreed: string | undefined },
): Promise<string | undefined> {
  if (yes) {
    if (agreed !== undefined) return agreed;
    throw new SvcError('usage', '--yes needs the plan that was agreed to: --plan <digest>', {
      hint: '--dry-run prints it',
    });
  }
  if (!interactive || json)
    throw new SvcError('usage', 'a restore asks at a terminal, or takes --yes --plan <digest>', {
      hint: `svc checkpoint restore ${plan.name} --dry-run prints the plan with its digest`,
    });
  for (const line of planLines(plan, Date.now())) print.text(line);
  const { text } = await import('@clack/prompts');
  const typed = await text({ message: `Type ${plan.name} to restore it` });
  if (typed === plan.name) return plan.digest;
  print.note('nothing was changed');
  return undefined;
}

function tell({ print, json }: CommandContext, restored: Awaited<ReturnType<typeof restore>>): void {
  if (json) return print.json(restored);
  const { name, replaced, carried, notHeld } = restored;
  print.text(print.color.good(`${name} is restored; ${carried} items and sends came along`));
  const lost = notHeldText(notHeld);
  if (lost !== '') print.text(print.color.warn(`not held: ${lost}`));
  if (replaced !== null) print.text(`the state before is ${replaced}: svc checkpoint restore --undo takes it back`);
  print.text('next: svc runtime start, then svc ingress resume');
}

async function finish({ print, json }: CommandContext, project: string): Promise<ExitCode> {
  const done = await finishPending(project);
  if (json) print.json({ finished: done !== undefined, purpose: done?.purpose ?? null, names: done?.names ?? {} });
  else if (done === undefined) print.text('nothing is pending');
  else {
    // After an exchange of code the step of the release goes on.
    const command = commandOf(done.purpose);
    const isCode = command !== FINISH_COMMAND;
    const [what, next] = isCode ? ['exchange of code', command] : [done.purpose, 'svc runtime start'];
    print.text(print.color.good(`the ${what} is finished; next: ${next}`));
  }
  return EXIT.ok;
}
