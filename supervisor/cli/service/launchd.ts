// A launchd service: one agent of the user, controlled with launchctl's current commands (bootstrap, bootout, kickstart, print).
// Tested with a fake launchctl and a schema of launchd's keys, but not on macOS.
//
//   LAUNCHD-1  kickstart starts a loaded agent that has ended (exit code 0, or restart budget spent). bootstrap starts one that is not loaded.
//   LAUNCHD-2  An operator's start clears the restart budget. launchd has none, so the worker keeps it in a file.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectPaths } from '../../../shared/files/paths.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { writeServiceFile } from './files.ts';
import { belowHome, needHome } from './home-folder.ts';
import { type Ran, runProgram, showProgram } from './programs.ts';
import type { LogOptions, Service, ServiceFile } from './service.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface LaunchdOptions {
  readonly label: string;
  readonly project: string;
  readonly env: Environment;
  readonly render: () => string;
}

/** Folder of the user's agents; undefined for a user without a home folder. */
export const agentFolder = (env: Environment): string | undefined => belowHome(env, 'Library', 'LaunchAgents');

export function launchdService({ label, project, env, render }: LaunchdOptions): Service {
  const file = join(needHome(agentFolder(env)), `${label}.plist`);
  const domain = `gui/${process.getuid?.()}`;
  const target = `${domain}/${label}`;
  const { serviceLog, restartWindow } = projectPaths(project);
  const ask = (...args: readonly string[]): Promise<Ran> => runProgram('launchctl', args, env);
  const must = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await ask(...args);
    if (code !== 0)
      throw new SvcError('refused', `launchctl ${args.join(' ')} ended with ${code}: ${stderr.trim()}`, {
        hint: 'svc service status, svc service logs',
      });
  };
  const isLoaded = async (): Promise<boolean> => (await ask('print', target)).code === 0;
  const unload = async (): Promise<void> => {
    if (await isLoaded()) await must('bootout', target);
  };
  return {
    kind: 'launchd',
    scope: 'user',
    name: label,
    file,
    isInstalled: () => existsSync(file),
    isThere: () => existsSync(file),
    render: () => [{ path: file, text: render() }],
    async install(files: readonly ServiceFile[]) {
      for (const rendered of files) writeServiceFile(rendered);
    },
    async uninstall() {
      await unload();
      rmSync(file, { force: true });
    },
    async start() {
      rmSync(restartWindow, { force: true }); // clears the restart budget
      await ((await isLoaded()) ? must('kickstart', target) : must('bootstrap', domain, file));
    },
    stop: unload,
    async state() {
      const { code, stdout } = await ask('print', target);
      const installed = existsSync(file);
      if (code !== 0)
        return {
          installed,
          enabled: installed,
          state: 'not loaded',
          running: false,
          pid: null,
          ready: null,
          detail: null,
        };
      return { installed, enabled: installed, ready: null, ...printed(stdout) };
    },
    denied: async () => undefined, // an agent is always of this user
    logs: (options) => showProgram('tail', tailArguments(serviceLog, options), env),
    warnings: () => [],
  };
}

/** The output of `launchctl print` is meant for people. These three lines have always been in it. */
function printed(text: string): { state: string; running: boolean; pid: number | null; detail: string | null } {
  const value = (name: string): string | undefined => new RegExp(`^\\s*${name} = (.+)$`, 'm').exec(text)?.[1]?.trim();
  const state = value('state') ?? 'unknown';
  const pid = Number(value('pid') ?? Number.NaN);
  const code = value('last exit code');
  return {
    state,
    running: state === 'running',
    pid: Number.isInteger(pid) ? pid : null,
    detail: code === undefined ? null : `last exit code ${code}`,
  };
}

function tailArguments(file: string, { follow, lines, since }: LogOptions): string[] {
  if (since !== undefined)
    throw new SvcError('usage', '--since is for systemd: launchd keeps the log in a plain file', {
      hint: 'svc runtime logs --since',
    });
  return ['-n', String(lines), ...(follow ? ['-F'] : []), file];
}
