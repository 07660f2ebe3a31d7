// Output of `runtime status` for people.
import type { Cut, RuntimeStatus, ToldExit } from '../../../shared/api/control.ts';
import { formatLogLine } from '../../../shared/log/log-line.ts';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { waitText } from '../../../shared/time/wait-text.ts';
import type { Printer } from '../command.ts';

export interface StatusTextOptions {
  readonly color: Printer['color'];
  /** Number of last log lines shown for each abnormal exit. */
  readonly lines: number;
}

const EXITS_SHOWN = 3;
const LINE_CHARACTERS = 300;

/** The command to use next on a host that needs its operator. */
export function nextStep({
  state,
  ready,
  exits,
}: Pick<RuntimeStatus, 'state' | 'ready' | 'exits'>): string | undefined {
  if (state === 'failed') {
    const cause = exits.at(-1)?.code === EXIT.config ? 'svc config check' : 'svc runtime logs --level error';
    return `next: \`${cause}\` shows the cause; mend it, then \`svc runtime restart\` starts it again`;
  }
  if (state === 'deferred') return '`svc runtime restart` starts it now';
  return state === 'running' && !ready ? 'next: `svc doctor` says what helps' : undefined;
}

export const isWell = ({ state, ready }: RuntimeStatus): boolean => state === 'running' && ready;

export function statusText(status: RuntimeStatus, { color, lines }: StatusTextOptions): readonly string[] {
  const good = isWell(status);
  const ends = status.exits
    .slice(-EXITS_SHOWN)
    .flatMap((exit) => [
      endText(exit),
      ...(good ? [] : lastLines(exit, { color, lines }).map((line) => `            ${line}`)),
    ]);
  return [
    (good ? color.good : color.bad)(stateName(status)) + since(status),
    ...status.reasons.map((reason) => `  ${reason}`),
    ...facts(status).map(([name, text]) => `${name.padEnd(11)} ${text}`),
    ...ends.map((line) => color.dim(line)),
  ];
}

function stateName({ state, ready }: RuntimeStatus): string {
  const name = state.replaceAll('_', ' ');
  // The time that follows is the start of this state, not the time since the host is ready.
  return state === 'running' ? `${ready ? 'ready' : 'not ready'}, ${name}` : name;
}

const since = ({ since, reason }: RuntimeStatus): string => ` since ${since}${reason === null ? '' : `: ${reason}`}`;

const urlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host);

function facts(status: RuntimeStatus): (readonly [string, string])[] {
  const { pid, runtimeId, generation, version, owner, supervisorPid, mode, address, socket, standby, budget, log } =
    status;
  const found: (readonly [string, string] | undefined)[] = [
    pid === null
      ? undefined
      : [
          'worker',
          `pid ${pid}, runtime ${runtimeId ?? 'unknown'}, generation ${generation ?? 'none'}, version ${version ?? 'unknown'}`,
        ],
    ['owner', `${owner}${supervisorPid === null ? '' : `, pid ${supervisorPid}`}, mode ${mode}`],
    address === null ? undefined : ['address', `${urlHost(address.host)}:${address.port}${holder(socket)}`],
    standby == null ? undefined : ['spare', standby],
    budget === null
      ? undefined
      : [
          'budget',
          `${budget.left} of ${budget.limit} starts left within ${budget.windowMs / 1_000} s${budget.nextStartAt === null ? '' : `, next start at ${budget.nextStartAt}`}`,
        ],
    accountsFact(status),
    deadFact(status),
    log === null ? undefined : ['log', log],
  ];
  return found.filter((fact) => fact !== undefined);
}

function accountsFact({ accounts }: RuntimeStatus): readonly [string, string] | undefined {
  if (accounts == null || accounts.total === 0) return undefined;
  const { total, online, others } = accounts;
  const named = others.map(({ name, state, since }) => `${name} ${state} ${waitText(Date.now() - Date.parse(since))}`);
  const more = total - online - others.length;
  const rest = [...named, ...(more > 0 ? [`and ${more} more`] : [])];
  return ['accounts', `${online} of ${total} online${rest.length === 0 ? '' : `: ${rest.join(', ')}`}`];
}

function deadFact({ dead }: RuntimeStatus): readonly [string, string] | undefined {
  if (dead == null || dead.inbox + dead.outbox === 0) return undefined;
  const stores = (['inbox', 'outbox'] as const).filter((store) => dead[store] > 0);
  const commands = stores.map((store) => `svc ${store} list --causes`);
  return ['dead', `${dead.inbox} in, ${dead.outbox} out: ${commands.join(', ')}`];
}

const HOLDERS = {
  supervisor: ', socket held by the supervisor',
  inherited: ', socket held by the owner',
  worker: ', socket bound by the worker',
} as const;

const holder = (socket: RuntimeStatus['socket']): string => (socket == null ? '' : HOLDERS[socket]);

function endText({ at, pid, runtimeId, durationMs, reason, code, signal, detail }: ToldExit): string {
  const how = signal === null ? (code === null ? '' : ` (code ${code})`) : ` (signal ${signal})`;
  // A reporter that did not see the exit knows only the start of the next worker.
  const when = durationMs === null ? `unseen, the next one started ${at}:` : at;
  const lived = durationMs === null ? '' : ` after ${(durationMs / 1_000).toFixed(1)} s,`;
  const why = detail === null ? '' : `: ${detail}`;
  return `ended       ${when} pid ${pid}, runtime ${runtimeId ?? 'unknown'},${lived} ${reason}${how}${why}`;
}

export const cutText = (cut: readonly Cut[]): string =>
  cut.length === 0 ? '' : `; cut: ${cut.map(({ name, reason }) => `${name}: ${reason}`).join('; ')}`;

/** The worker's last lines, formatted as `runtime logs` does. Stacks are cut; the log has them. */
export const lastLines = (exit: ToldExit, { color, lines }: StatusTextOptions): readonly string[] =>
  exit.lastLines
    .slice(exit.lastLines.length - Math.min(lines, exit.lastLines.length))
    .map((line) => formatLogLine(line, color).split('\n', 1)[0]?.slice(0, LINE_CHARACTERS) ?? '');
