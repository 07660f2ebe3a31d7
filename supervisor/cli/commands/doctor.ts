// `svc doctor`: checks with stable ids for project, machine, state and proxy, for an account at its platform, or for a live host.
// Only --fix writes files, and only --edge, --endpoint and --live use a network.
import { readFileSync } from 'node:fs';
import { loadConfig } from '../../../shared/config/load.ts';
import { projectPaths } from '../../../shared/files/paths.ts';
import { EXIT, type ExitCode } from '../../../shared/process/exit-codes.ts';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import type { Command, CommandContext } from '../command.ts';
import { hostAddress, maySendToken } from '../doctor/address.ts';
import { type Check, type CheckStatus, type Finding, fault, type Subject } from '../doctor/check.ts';
import { CHECKS } from '../doctor/checks.ts';
import { repairAll } from '../doctor/repair.ts';
import { countsText, statusMark } from '../doctor/status-mark.ts';
import { parseDuration } from '../duration.ts';
import { countOption } from '../options.ts';
import { unknownWord } from '../output/usage-error.ts';

export const command: Command = {
  noun: 'doctor',
  summary: 'Checks project, machine and state, and says what mends what it finds; or asks a live host with --live',
  options: [
    { flags: '--list', description: 'The ids of all checks' },
    { flags: '--only <ids>', description: 'Only these checks, comma separated' },
    { flags: '--skip <ids>', description: 'All but these checks' },
    { flags: '--strict', description: 'Warnings count as errors' },
    { flags: '--fix', description: 'Mends what is safe to mend, after asking; nothing else is written' },
    { flags: '--yes', description: 'With --fix: without asking' },
    { flags: '--edge <url>', description: 'Asks the host through the proxy at this address, too' },
    { flags: '--idle <seconds>', description: 'With --edge: watches a stream without events for so long (edge.idle)' },
    {
      flags: '--endpoint <name>',
      description:
        'Asks the platform about this account (telegram~main), or about all of a slot (telegram); alone, or with --strict',
    },
    {
      flags: '--timeout <duration>',
      description: 'With --endpoint: the most that one account may take (default: 10s)',
    },
    { flags: '--live <url>', description: 'The readiness report of a host, with the token of SVC_HTTP_TOKEN' },
    {
      flags: '--insecure-http',
      description: 'With --live or --edge: sends the token over plain HTTP to another machine',
    },
  ],
  examples: [
    'svc doctor',
    'svc doctor --only http.port,database.integrity --json',
    'svc doctor --fix',
    'svc doctor --edge https://bot.example/base',
    'svc doctor --edge https://bot.example/base --only edge.idle --idle 40',
    'svc doctor --endpoint telegram~main',
    'SVC_HTTP_TOKEN=… svc doctor --live https://bot.example/base --json',
  ],
  async run(context, _args, options) {
    for (const asked of ['endpoint', 'live', 'list'] as const) refuseOthers(options, asked);
    if (options['endpoint'] !== undefined) return endpoint(context, options);
    if (options['timeout'] !== undefined) throw new SvcError('usage', '--timeout goes with --endpoint alone');
    if (options['live'] !== undefined) return live(context, String(options['live']), options['insecureHttp'] === true);
    if (options['idle'] !== undefined && options['edge'] === undefined)
      throw new SvcError('usage', '--idle goes with --edge alone', { hint: 'svc doctor --edge <url> --idle 40' });
    const checks = chosen(options);
    return options['list'] === true ? list(context, checks) : examine(context, checks, options);
  },
};

/** The longest `--timeout`: a timer of Node takes at most 24 days. */
const DAY_MS = 86_400_000;
const LONGEST_IDLE_SECONDS = 3_600;
/** Options that do not combine with these. */
const NOT_WITH = {
  endpoint: ['list', 'only', 'skip', 'fix', 'yes', 'edge', 'idle', 'live', 'insecureHttp'],
  live: ['list', 'only', 'skip', 'fix', 'yes', 'edge', 'idle'],
  list: ['fix'],
} as const;

/** Throws `usage` if an option would have no effect. */
function refuseOthers(options: Readonly<Record<string, unknown>>, asked: keyof typeof NOT_WITH): void {
  const other = NOT_WITH[asked].find((name) => options[name] !== undefined);
  if (options[asked] === undefined || other === undefined) return;
  throw new SvcError(
    'usage',
    `--${asked} and --${other === 'insecureHttp' ? 'insecure-http' : other} do not go together`,
    {
      hint: asked === 'endpoint' ? 'svc doctor --endpoint <name> [--strict] [--json]' : 'svc doctor --help',
    },
  );
}

async function endpoint(context: CommandContext, options: Readonly<Record<string, unknown>>): Promise<ExitCode> {
  const { checkEndpoint } = await import('../doctor/endpoint.ts');
  return checkEndpoint(context, {
    endpoint: String(options['endpoint']),
    strict: options['strict'] === true,
    limitMs: Math.min(DAY_MS, parseDuration('--timeout', String(options['timeout'] ?? '10s'))),
  });
}

/** Throws `usage` for an unknown id. */
function chosen(options: Readonly<Record<string, unknown>>): readonly Check[] {
  const idsOf = (name: string): readonly string[] | undefined =>
    options[name] === undefined
      ? undefined
      : String(options[name])
          .split(',')
          .filter((id) => id !== '');
  const all = CHECKS.map(({ id }) => id);
  const only = idsOf('only');
  const skipped = idsOf('skip') ?? [];
  for (const id of [...(only ?? []), ...skipped]) if (!all.includes(id)) throw unknownWord('check', id, all);
  const isAsked = (id: string): boolean =>
    only?.includes(id) ?? (!id.startsWith('edge.') || options['edge'] !== undefined || options['list'] === true);
  return CHECKS.filter(({ id }) => isAsked(id) && !skipped.includes(id));
}

function list({ print }: CommandContext, checks: readonly Check[]): ExitCode {
  print.json(checks.map(({ id, title }) => ({ id, title })));
  print.table(
    ['id', 'checks that'],
    checks.map(({ id, title }) => [id, title]),
  );
  return EXIT.ok;
}

type Result = { readonly id: string; readonly title: string } & Finding;

async function examine(
  context: CommandContext,
  checks: readonly Check[],
  options: Readonly<Record<string, unknown>>,
): Promise<ExitCode> {
  let results = await runAll(context, checks, options);
  const fixed = options['fix'] === true ? await repairAll(context, results, options['yes'] === true) : [];
  // One repair may change the result of several checks.
  if (fixed.length > 0) results = await runAll(context, checks, options);
  return tell(context, { results, fixed, strict: options['strict'] === true });
}

async function runAll(
  context: CommandContext,
  checks: readonly Check[],
  options: Readonly<Record<string, unknown>>,
): Promise<readonly Result[]> {
  const subject = subjectOf(context, options);
  const results: Result[] = [];
  for (const { id, title, run } of checks)
    results.push({ id, title, ...(await Promise.resolve(subject).then(run).catch(broken)) });
  return results;
}

interface Outcome {
  readonly results: readonly Result[];
  readonly fixed: readonly string[];
  readonly strict: boolean;
}

function tell({ print }: CommandContext, { results, fixed, strict }: Outcome): ExitCode {
  const count = (status: CheckStatus): number => results.filter((result) => result.status === status).length;
  const counts = { ok: count('ok'), warn: count('warn'), error: count('error'), skip: count('skip') };
  const bad = counts.error > 0 || (strict && counts.warn > 0);
  print.json({ ok: !bad, strict, counts, fixed, checks: results });
  for (const { id, status, reason, fix } of results) {
    print.text(`${statusMark(print, status)} ${id.padEnd(20)} ${reason}`);
    if (fix !== undefined) print.text(`      ${print.color.dim(`→ ${fix}`)}`);
  }
  print.text(countsText(counts));
  return bad ? EXIT.failed : EXIT.ok;
}

/** A check that cannot run counts as failed. */
const broken = (error: unknown): Finding =>
  (error as NodeJS.ErrnoException | null)?.code === 'EACCES'
    ? fault(`not for this user to see: ${messageOf(error)}`, 'run it as the user that the host runs as')
    : fault(`the check failed: ${messageOf(error)}`, 'svc doctor --debug');

function subjectOf(context: CommandContext, options: Readonly<Record<string, unknown>>): Subject {
  const paths = projectPaths(context.project());
  const config = configOf(context, paths.project);
  return {
    paths,
    env: context.env,
    config,
    manifest: manifestOf(paths.packageJson),
    node: process.versions.node,
    ...(options['edge'] === undefined ? {} : { edge: edgeOf(context, config, options) }),
  };
}

/** Uses the token in SVC_HTTP_TOKEN, else the project's own. */
function edgeOf(
  { env }: CommandContext,
  config: Subject['config'],
  options: Readonly<Record<string, unknown>>,
): NonNullable<Subject['edge']> {
  const address = hostAddress('--edge', String(options['edge']));
  const own = 'fault' in config ? undefined : config.config.http.token?.reveal();
  const idleSeconds = countOption(options, 'idle');
  if (idleSeconds !== undefined && idleSeconds > LONGEST_IDLE_SECONDS)
    throw new SvcError('usage', `--idle takes at most ${LONGEST_IDLE_SECONDS} seconds`);
  return {
    url: address.href,
    token: env['SVC_HTTP_TOKEN'] ?? own ?? '',
    maySend: maySendToken(address, options['insecureHttp'] === true),
    ...(idleSeconds === undefined ? {} : { idleSeconds }),
  };
}

function configOf({ env }: CommandContext, project: string): Subject['config'] {
  try {
    return loadConfig({ project, mode: 'production', environment: env });
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { fault: error.message };
  }
}

function manifestOf(path: string): Subject['manifest'] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Subject['manifest'];
  } catch {
    return undefined; // another check reports it
  }
}

async function live({ env, json, print }: CommandContext, url: string, insecureHttp: boolean): Promise<ExitCode> {
  const { askLive } = await import('../doctor/live.ts');
  const { ready, text, report } = await askLive({ url, token: env['SVC_HTTP_TOKEN'], insecureHttp });
  if (json) process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  else if (ready) print.text(print.color.good('ready'));
  else print.text(print.color.bad(report['error'] === undefined ? 'not ready' : 'could not ask'));
  if (!json) for (const line of explain(report)) print.text(line);
  return ready ? EXIT.ok : EXIT.failed;
}

function explain({ error, checks }: Readonly<Record<string, unknown>>): string[] {
  if (typeof error === 'object' && error !== null) return Object.values(error).map((value) => `  ${String(value)}`);
  if (!Array.isArray(checks)) return [];
  return checks
    .filter((check) => check?.ready !== true)
    .map((check) => `  ${check?.component}: ${check?.reason}. ${check?.remediation ?? ''}`.trimEnd());
}
