// `svc runtime status`: exit code 0 if up and ready, 1 if alive but not ready, 3 if nothing runs.
import type { RuntimeStatus } from '../../../../shared/api/control.ts';
import { callControl } from '../../../../shared/control/control-client.ts';
import { readOwnFile } from '../../../../shared/files/own-file.ts';
import { CONFIG_FILE, CONTROL_SOCKET, projectPaths, WORKER_SOCKET } from '../../../../shared/files/paths.ts';
import { EXIT } from '../../../../shared/process/exit-codes.ts';
import { newestCheckpoint } from '../../../../shared/recovery/stored-checkpoints.ts';
import { VERSION } from '../../../../shared/version.ts';
import type { Command, Printer } from '../../command.ts';
import {
  cutBy,
  findRunning,
  hasLiveHost,
  liveWorker,
  type RunningProject,
  workerRecord,
} from '../../connect/control-client.ts';
import { countOption } from '../../options.ts';
import { checkpointText } from '../../output/checkpoint-text.ts';
import { readOpenRelease, releaseLines } from '../../output/release-text.ts';
import { cutText, isWell, nextStep, statusText } from '../../output/status-text.ts';
import { holdsConfig } from '../../project-lookup.ts';

/** A worker takes the writer lock shortly before it answers. This limit exceeds that time even on a busy machine. */
const STARTING_MS = 10_000;
/** Limit in ms. A blocked worker cannot answer; then only the supervisor's data is shown. */
const LEDGER_MS = 500;
const EXITS_TOLD = 10;

export const command: Command = {
  noun: 'runtime',
  verb: 'status',
  summary: 'Says what runs, since when, and how the last workers ended; exit 0 ready, 1 not ready, 3 nothing there',
  options: [{ flags: '--lines <n>', description: 'Last log lines shown for each end', default: 3 }],
  examples: ['svc runtime status', 'svc runtime status --json', 'svc runtime status --lines 20'],
  async run({ project, print }, _args, options) {
    const lines = countOption(options, 'lines', 0) ?? 0;
    const folder = project(hasLiveHost);
    const running = await findRunning(folder);
    // A stopped supervisor answers for another moment, but nothing runs any more.
    if (running === undefined || running.status.state === 'stopped') return nothing(folder, print);
    const { status } = running;
    const told = {
      ...status,
      ...(await toldByWorker(running)),
      checkpoint: newestCheckpoint(folder),
      release: await readOpenRelease(folder),
    };
    const notes = [
      ...status.notes,
      ...renewal(status.supervisorVersion),
      ...missingSocket(running),
      ...missingConfig(folder),
      ...[nextStep(told)].filter((step) => step !== undefined),
    ];
    print.json({ ...told, notes });
    for (const line of statusText(told, { color: print.color, lines })) print.text(line);
    print.text(checkpointText(told.checkpoint));
    for (const line of releaseLines(told.release)) print.text(line);
    for (const note of notes) print.note(print.color.warn(note));
    return isWell(status) ? EXIT.ok : EXIT.failed;
  },
};

/**
 * Facts that a supervisor does not have: dead letters, accounts, and exits under other process managers. It knows the exits of its own workers in
 * full.
 */
async function toldByWorker({ who, status }: RunningProject): Promise<Partial<RuntimeStatus>> {
  if (who !== 'supervisor' || status.state !== 'running') return {};
  const worker = (await callControl(WORKER_SOCKET, 'status', { timeoutMs: LEDGER_MS }).catch(() => undefined)) as
    | Partial<RuntimeStatus>
    | undefined;
  const seen = new Set(status.exits.map(({ runtimeId }) => runtimeId));
  const others = (worker?.exits ?? []).filter(({ runtimeId }) => !seen.has(runtimeId));
  const exits = [...others, ...status.exits].sort((a, b) => Date.parse(a.at) - Date.parse(b.at)).slice(-EXITS_TOLD);
  const { dead = null, accounts = null } = worker ?? {};
  return { exits, dead, accounts };
}

function nothing(project: string, print: Printer): typeof EXIT.absent | typeof EXIT.failed {
  const worker = liveWorker(project);
  if (worker !== undefined) {
    const state = Date.now() - Date.parse(worker.startedAt) < STARTING_MS ? 'starting' : 'unreachable';
    print.json({ state, ready: false, pid: worker.pid, owner: worker.owner, since: worker.startedAt });
    const how = state === 'starting' ? 'is starting' : 'holds the project but does not answer';
    print.text(print.color.bad(`pid ${worker.pid}, started by ${worker.owner}, ${how}`));
    return EXIT.failed;
  }
  const exits = formerExits(project);
  const lastEnd = lastEndOf(project, exits);
  print.json({ state: 'stopped', ready: false, pid: null, exits, lastEnd: lastEnd ?? null });
  print.text('nothing is running');
  if (lastEnd !== undefined) print.text(print.color.dim(lastEnd));
  return EXIT.absent;
}

/** The last exit: from the record of a daemon that is gone, or from a later worker's own record. */
function lastEndOf(project: string, exits: RuntimeStatus['exits']): string | undefined {
  const exit = exits.at(-1);
  const record = workerRecord(project);
  if (record === undefined || (exit !== undefined && exit.at > record.startedAt))
    return (
      exit &&
      `the last worker ended at ${exit.at}: ${exit.detail ?? exit.reason}${cutText(cutBy(project, exit.runtimeId))}`
    );
  const { owner, startedAt, end } = record;
  const how =
    end === undefined
      ? 'ended without a word: it was killed, or the machine went down'
      : `ended at ${end.at}: ${end.reason}${cutText(end.cut ?? [])}`;
  return `the last worker, started by ${owner} at ${startedAt}, ${how}`;
}

function formerExits(project: string): RuntimeStatus['exits'] {
  try {
    const { exits } = JSON.parse(readOwnFile(projectPaths(project).supervisorRecord)) as Pick<RuntimeStatus, 'exits'>;
    return Array.isArray(exits) ? exits : [];
  } catch {
    return []; // there was no daemon
  }
}

/** Only the daemon's worker answers: the supervisor's socket was removed and is being recreated. */
const missingSocket = ({ who, status }: RunningProject): string[] =>
  who === 'worker' && status.owner === 'daemon'
    ? [
        `${CONTROL_SOCKET} is gone: the supervisor makes it anew within seconds; until then this is what the worker says`,
      ]
    : [];

/** The host does not need the file before its next start, so the operator is warned in time. */
const missingConfig = (project: string): string[] =>
  holdsConfig(project)
    ? []
    : [`${project} holds no ${CONFIG_FILE}: this host runs on, but its next start fails; put it back`];

/** An older daemon works with a newer command. The notice recommends a renewal. */
const renewal = (version: string | undefined): string[] =>
  version === undefined || version === VERSION
    ? []
    : [`the daemon is of version ${version}, this command of ${VERSION}: renew it with svc runtime restart --daemon`];
