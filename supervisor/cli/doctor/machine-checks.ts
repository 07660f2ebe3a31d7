// Checks of a project's surroundings: the clock against times in the state, git, and the installed service.
import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { proxyVariables } from '../../../shared/process/proxy-variables.ts';
import { serviceOf } from '../service/service-of.ts';
import { type Check, type Finding, fault, ok, type Subject, skip, warn } from './check.ts';

const MOST_AHEAD_MS = 60_000;
const GIT_MS = 10_000;

export const MACHINE_CHECKS: readonly Check[] = [
  { id: 'machine.clock', title: 'The clock is not behind what was written already', run: clock },
  { id: 'env.proxy', title: 'No proxy is set that svc would not use', run: proxy },
  { id: 'package.committed', title: 'The lockfile is committed as it is', run: committed },
  { id: 'service.current', title: 'The installed service is as it would be written now', run: serviceCurrent },
];

/** A clock that went back makes the times of events, retries and reminders wrong, and tokens with an expiry invalid. */
function clock({ paths }: Subject): Finding {
  const now = Date.now();
  const written = [
    paths.database,
    `${paths.database}-wal`,
    paths.workerRecord,
    paths.supervisorRecord,
    paths.runtimeLog,
  ]
    .map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs)
    .filter((time) => time !== undefined);
  if (written.length === 0) return skip('nothing was written yet');
  const aheadMs = Math.max(...written) - now;
  return aheadMs > MOST_AHEAD_MS
    ? fault(
        `the state was written ${Math.round(aheadMs / 60_000)} min in the future: the clock went back`,
        'timedatectl set-ntp true',
      )
    : ok('no time in the state lies ahead');
}

/** Elsewhere these variables send requests through a proxy. Behind a firewall the accounts would then stay offline without a word. */
function proxy({ env }: Subject): Finding {
  const names = proxyVariables(env);
  return names.length === 0
    ? ok('no variable names a proxy')
    : warn(
        `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} set, but svc uses no proxy: accounts connect to their platforms directly`,
        'let the host reach the platforms directly; for a host that does, unset the variable where svc starts',
      );
}

const run = promisify(execFile);

/** Without a committed lockfile the next machine installs other versions. */
async function committed({ paths }: Subject): Promise<Finding> {
  if (statSync(paths.lockfile, { throwIfNoEntry: false }) === undefined) return skip('there is no package-lock.json');
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', ['-C', paths.project, ...args], { timeout: GIT_MS })).stdout;
  try {
    await git('rev-parse', '--is-inside-work-tree');
  } catch {
    return skip('not under git, or not under this user');
  }
  const state = (await git('status', '--porcelain=v1', '--ignored=matching', '--', paths.lockfile)).slice(0, 2);
  const commit = 'git add package-lock.json && git commit -m "Update the lockfile" package-lock.json';
  switch (state) {
    case '':
      return ok('committed');
    case '!!':
      return fault('package-lock.json is ignored by git', 'take it out of .gitignore, then git add package-lock.json');
    case '??':
      return fault('package-lock.json was never committed', commit);
    default:
      return warn('package-lock.json differs from what is committed', commit);
  }
}

/** The installed unit may be older than the configuration: port of the socket, drain time, path of node. */
function serviceCurrent({ paths, env }: Subject): Finding {
  for (const scope of ['system', 'user'] as const) {
    try {
      const service = serviceOf({ project: paths.project, scope, env });
      if (!service.isInstalled()) continue;
      const changed = service.render().filter(({ path, text }) => textOf(path) !== text);
      const option = scope === 'user' && service.kind === 'systemd' ? ' --user' : '';
      return changed.length === 0
        ? ok(`${service.name} is up to date`)
        : warn(`${service.name} is not as it would be written now`, `svc service install${option}`);
    } catch {
      // This scope has no service here, or another check reports why it cannot be written.
    }
  }
  return skip('no service is installed');
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // not written yet
  }
}
