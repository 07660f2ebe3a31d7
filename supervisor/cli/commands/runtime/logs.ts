// `svc runtime logs`: the runtime log across rotations and restarts. Without a daemon, the lines that the worker keeps in memory.
// --json prints one list of lines; with --follow one document for each line.
import { setTimeout as pause } from 'node:timers/promises';
import { projectPaths } from '../../../../shared/files/paths.ts';
import { LOG_LEVELS } from '../../../../shared/log/log-level.ts';
import { formatLogLine, isAtLeast, parseLogLine } from '../../../../shared/log/log-line.ts';
import { EXIT, type ExitCode } from '../../../../shared/process/exit-codes.ts';
import type { Command, CommandContext } from '../../command.ts';
import { findRunning, hasLiveHost, type RunningProject } from '../../connect/control-client.ts';
import { momentOf } from '../../duration.ts';
import { countOption, wordOption } from '../../options.ts';
import { type LineSource, LogFile } from '../../output/log-file.ts';
import { withoutRawSecrets } from '../../output/raw-lines.ts';

interface Filter {
  readonly level: string | undefined;
  readonly endpoint: string | undefined;
  /** Epoch milliseconds. */
  readonly since: number | undefined;
}

/** All levels except `silent`, which no line has. */
const LEVELS = LOG_LEVELS.slice(0, -1);
const LINES = 100;
const FOLLOW_MS = 200;

export const command: Command = {
  noun: 'runtime',
  verb: 'logs',
  summary: 'Shows the runtime log, and follows it over rotations and restarts; exit 1 with nothing running',
  options: [
    { flags: '-f, --follow', description: 'Goes on with what comes' },
    { flags: '-n, --lines <n>', description: 'The last lines; default 100, with --since all' },
    { flags: '--since <when>', description: 'From a time (2026-01-31T12:00:00Z) or an age (15m, 2h) on' },
    { flags: '--level <level>', description: `This urgent or more: ${LEVELS.join(', ')}` },
    { flags: '--endpoint <id>', description: 'Lines of one endpoint' },
    { flags: '--json', description: 'One JSON list on stdout; with --follow a JSON document a line' },
  ],
  examples: ['svc runtime logs', 'svc runtime logs -f --level warn', 'svc runtime logs --since 15m --json'],
  async run(context, _args, options) {
    const filter = filterOf(options);
    const count = countOf(options);
    const project = context.project(hasLiveHost);
    const running = await findRunning(project);
    const source = sourceOf(project, running);
    const accepts = (line: string): boolean => passes(line, filter);
    let shown = 0;
    const seen = (lines: readonly string[]): readonly string[] => {
      shown += lines.length;
      return lines;
    };
    const last = await source.last(count, accepts);
    if (context.json && options['follow'] !== true)
      context.print.json(seen(await withoutRawSecrets([...last].flat())).map(documentOf));
    else for (const lines of last) await showAll(context, seen(lines));
    if (shown === 0 && count !== 0) context.print.note(`no line ${isFilter(filter) ? 'fits' : 'is there'}`);
    if (running === undefined) {
      context.print.note('nothing is running');
      return EXIT.failed;
    }
    return options['follow'] === true ? follow(context, source, accepts) : EXIT.ok;
  },
};

/** Undefined: all lines. */
const countOf = (options: Readonly<Record<string, unknown>>): number | undefined =>
  countOption(options, 'lines', 0) ?? (options['since'] === undefined ? LINES : undefined);

function filterOf(options: Readonly<Record<string, unknown>>): Filter {
  const text = (name: string): string | undefined => (options[name] === undefined ? undefined : String(options[name]));
  const level = wordOption(options, 'level', LEVELS);
  const since = text('since');
  return { level, endpoint: text('endpoint'), since: since === undefined ? undefined : momentOf('--since', since) };
}

const isFilter = (filter: Filter): boolean => Object.values(filter).some((value) => value !== undefined);

/**
 * Lines that are no JSON (a crash of Node) pass a level filter, because they are urgent.
 * They fail filters by time or endpoint, since they have neither.
 */
function passes(line: string, { level, endpoint, since }: Filter): boolean {
  const entry = parseLogLine(line);
  if (entry === undefined) return endpoint === undefined && since === undefined;
  if (level !== undefined && !isAtLeast(entry['level'], level)) return false;
  if (
    endpoint !== undefined &&
    entry['endpoint'] !== endpoint &&
    !String(entry['endpoint'] ?? '').endsWith(`:${endpoint}`)
  )
    return false;
  return since === undefined || Date.parse(String(entry['time'])) >= since;
}

const documentOf = (line: string): unknown => parseLogLine(line) ?? { text: line };

function show({ json, print }: CommandContext, line: string): void {
  if (json) print.line(documentOf(line));
  else print.text(formatLogLine(line, print.color));
}

async function showAll(context: CommandContext, lines: readonly string[]): Promise<void> {
  for (const line of await withoutRawSecrets(lines)) show(context, line);
}

async function follow(
  context: CommandContext,
  source: LineSource,
  accepts: (line: string) => boolean,
): Promise<ExitCode> {
  while (!context.signal.aborted) {
    for (const lines of await source.next()) await showAll(context, lines.filter(accepts));
    if (source.hasGap()) context.print.note('lines may be missing here: they were gone before they could be read');
    await pause(FOLLOW_MS, undefined, { signal: context.signal }).catch(() => {}); // Ctrl-C is the normal end
  }
  return EXIT.ok;
}

/** With a daemon the file; otherwise the worker's memory, because its stdout belongs to the process manager. */
const sourceOf = (project: string, running: RunningProject | undefined): LineSource =>
  running === undefined || running.who === 'supervisor' || running.status.owner === 'daemon'
    ? new LogFile(projectPaths(project).runtimeLog)
    : new WorkerLines(running);

interface RecentLines {
  readonly lines: readonly string[];
  readonly next: number;
  /** Pid of the worker. An older version does not report it. */
  readonly pid?: number;
}

/** The lines that a worker keeps. After a restart the next worker numbers its lines from the start. */
class WorkerLines implements LineSource {
  readonly #running: RunningProject;
  #after = 0;
  #pid: number | undefined;
  #hasGap = false;

  constructor(running: RunningProject) {
    this.#running = running;
  }

  async last(count: number | undefined, accepts: (line: string) => boolean): Promise<readonly string[][]> {
    const { lines, next, pid } = await this.#ask(0);
    this.#after = next;
    this.#pid = pid;
    const accepted = lines.filter(accepts);
    return [count === undefined ? accepted : accepted.slice(accepted.length - Math.min(count, accepted.length))];
  }

  async next(): Promise<readonly (readonly string[])[]> {
    const answer = await this.#ask(this.#after);
    // The next worker may already have as many lines as the former one, so the pid is compared as well.
    const isOther = answer.next < this.#after || (answer.pid !== undefined && answer.pid !== this.#pid);
    if (isOther) this.#after = 0;
    const { lines, next, pid } = isOther ? await this.#ask(0) : answer;
    this.#pid = pid ?? this.#pid;
    if (next >= this.#after && next - this.#after > lines.length) this.#hasGap = true;
    this.#after = next;
    return [lines];
  }

  hasGap(): boolean {
    const had = this.#hasGap;
    this.#hasGap = false;
    return had;
  }

  /** Without a worker there are no lines, and the next worker starts from none. */
  #ask(after: number): Promise<RecentLines> {
    return this.#running
      .call('logs', { options: { after } })
      .then((answer) => answer as RecentLines)
      .catch(() => ({ lines: [], next: 0 }));
  }
}
