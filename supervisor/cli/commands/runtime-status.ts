// `svc runtime status`: 0 up and ready, 1 alive but not ready, 3 nothing there.
import { readFileSync } from 'node:fs';
import type { RuntimeStatus } from '../../../shared/api/control.ts';
import { EXIT } from '../../../shared/exit-codes.ts';
import { projectPaths } from '../../../shared/paths.ts';
import { VERSION } from '../../../shared/version.ts';
import type { Command, Printer } from '../command.ts';
import { findRunning, liveWorker } from '../control-client.ts';

export const command: Command = {
  noun: 'runtime',
  verb: 'status',
  summary: 'Says what runs, since when, and how the last workers ended; exit 0 ready, 1 not ready, 3 nothing there',
  options: [{ flags: '--lines <n>', description: 'Last log lines shown for each end', default: 3 }],
  examples: ['svc runtime status', 'svc runtime status --json', 'svc runtime status --lines 20'],
  async run({ project, print }, _args, options) {
    const folder = project();
    const running = await findRunning(folder);
    // A supervisor that has stopped answers for a moment longer: there is nothing any more.
    if (running === undefined || running.status.state === 'stopped') return nothing(folder, print);
    const { status } = running;
    const notes = [...status.notes, ...renewal(status.supervisorVersion)];
    print.json({ ...status, notes });
    show(status, print, Number(options['lines']) || 0);
    for (const note of notes) print.note(print.color.warn(note));
    return status.state === 'running' && status.ready ? EXIT.ok : EXIT.failed;
  },
};

function nothing(project: string, print: Printer): typeof EXIT.absent | typeof EXIT.failed {
  const worker = liveWorker(project);
  if (worker !== undefined) {
    print.json({ state: 'unreachable', ready: false, pid: worker.pid, owner: worker.owner, since: worker.startedAt });
    print.text(print.color.bad(`pid ${worker.pid}, started by ${worker.owner}, holds the project but does not answer`));
    return EXIT.failed;
  }
  const exits = formerExits(project);
  print.json({ state: 'stopped', ready: false, pid: null, exits });
  print.text('nothing is running');
  const last = exits.at(-1);
  if (last !== undefined)
    print.text(print.color.dim(`the last worker ended at ${last.at}: ${last.detail ?? last.reason}`));
  return EXIT.absent;
}

function formerExits(project: string): RuntimeStatus['exits'] {
  try {
    const { exits } = JSON.parse(readFileSync(projectPaths(project).supervisorRecord, 'utf8')) as Pick<
      RuntimeStatus,
      'exits'
    >;
    return Array.isArray(exits) ? exits : [];
  } catch {
    return []; // there was no daemon
  }
}

/** An old daemon goes on working under a newer command; that is said, not enforced. */
const renewal = (version: string | undefined): string[] =>
  version === undefined || version === VERSION
    ? []
    : [`the daemon is of version ${version}, this command of ${VERSION}: renew it with svc runtime restart --daemon`];

function show(status: RuntimeStatus, print: Printer, lines: number): void {
  const { color } = print;
  const good = status.state === 'running' && status.ready;
  const state = `${status.state.replaceAll('_', ' ')}${status.state === 'running' ? (status.ready ? ', ready' : ', not ready') : ''}`;
  print.text(
    `${good ? color.good(state) : color.bad(state)} since ${status.since}${status.reason === null ? '' : `: ${status.reason}`}`,
  );
  for (const reason of status.reasons) print.text(`  ${reason}`);
  if (status.pid !== null)
    print.text(
      `worker      pid ${status.pid}, runtime ${status.runtimeId ?? 'unknown'}, generation ${status.generation ?? 'none'}, version ${status.version ?? 'unknown'}`,
    );
  print.text(
    `owner       ${status.owner}${status.supervisorPid === null ? '' : `, pid ${status.supervisorPid}`}, mode ${status.mode}`,
  );
  if (status.address !== null) print.text(`address     ${status.address.host}:${status.address.port}`);
  if (status.budget !== null) {
    const { left, limit, windowMs, nextStartAt } = status.budget;
    print.text(
      `budget      ${left} of ${limit} starts left within ${windowMs / 1_000} s${nextStartAt === null ? '' : `, next start at ${nextStartAt}`}`,
    );
  }
  if (status.log !== null) print.text(`log         ${status.log}`);
  for (const exit of status.exits.slice(-3)) {
    print.text(
      color.dim(
        `ended       ${exit.at} pid ${exit.pid} after ${(exit.durationMs / 1_000).toFixed(1)} s, ${exit.reason}: ${exit.detail ?? ''}`,
      ),
    );
    if (!good)
      for (const line of exit.lastLines.slice(-lines)) print.text(color.dim(`            ${line.slice(0, 200)}`));
  }
}
