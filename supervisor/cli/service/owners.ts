// Finds process managers that start a project by themselves, from their files alone: units, launch agents, PM2's saved list.
//
//   OWNERS-1  A process manager counts if it starts the project unasked: an enabled unit, any agent, an app in PM2's saved list.
//   OWNERS-2  A unit is matched by its working folder, not by its name. Hand-written units count, too.
//   OWNERS-3  An unreadable file is ignored. This check only warns; the writer lock protects the data.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { belowHome, homeFolder } from './home-folder.ts';
import { agentFolder } from './launchd.ts';
import { templateOf } from './names.ts';
import { userUnits } from './systemd.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface KnownOwner {
  readonly kind: 'systemd' | 'launchd' | 'pm2';
  /** `svc@alice.service`, a label, or the name of an app. */
  readonly name: string;
  /** The file that starts the project. */
  readonly file: string;
  /** The process manager's own commands. */
  readonly start: string;
  readonly remove: string;
}

export interface OwnerPlaces {
  readonly systemUnits: string;
  readonly userUnits: string | undefined;
  /** Home of the user whose units are in `userUnits`. */
  readonly home: string | undefined;
  readonly agents: readonly string[];
  readonly pm2: string | undefined;
}

export function ownerPlaces(env: Environment): OwnerPlaces {
  return {
    systemUnits: '/etc/systemd/system',
    userUnits: userUnits(env),
    home: homeFolder(env),
    agents: [agentFolder(env), '/Library/LaunchAgents', '/Library/LaunchDaemons'].filter((path) => path !== undefined),
    pm2: env['PM2_HOME'] === undefined ? belowHome(env, '.pm2', 'dump.pm2') : join(env['PM2_HOME'], 'dump.pm2'),
  };
}

/** Every process manager that would start this project unasked. */
export function knownOwners(project: string, places: OwnerPlaces): readonly KnownOwner[] {
  return [
    ...units(project, { folder: places.systemUnits, systemctl: 'systemctl', home: '/root' }),
    ...units(project, { folder: places.userUnits, systemctl: 'systemctl --user', home: places.home }),
    ...places.agents.flatMap((folder) => agents(project, folder)),
    ...savedApps(project, places.pm2),
  ];
}

interface UnitFolder {
  readonly folder: string | undefined;
  readonly systemctl: string;
  /** Value of the specifier `%h`. */
  readonly home: string | undefined;
}

function units(project: string, { folder, systemctl, home }: UnitFolder): KnownOwner[] {
  if (folder === undefined) return [];
  const names = entries(folder);
  const enabled = new Set(
    names.filter((name) => /\.(wants|requires)$/.test(name)).flatMap((name) => entries(join(folder, name))),
  );
  return [...enabled]
    .filter((name) => name.endsWith('.service'))
    .map((name) => ({ name, file: join(folder, names.includes(name) ? name : templateOf(name)) }))
    .filter((unit) => worksIn(project, { ...unit, home }))
    .map(({ name, file }) => ({
      kind: 'systemd' as const,
      name,
      file,
      start: `${systemctl} start ${name}`,
      remove: `${systemctl} disable --now ${name}`,
    }));
}

/** Compares `WorkingDirectory=` with the specifiers `%i` and `%h` expanded. A leading `-` allows the folder to be missing. */
function worksIn(
  project: string,
  { file, name, home = '' }: { readonly file: string; readonly name: string; readonly home: string | undefined },
): boolean {
  const meant: Readonly<Record<string, string>> = { i: /@(.*)\.service$/.exec(name)?.[1] ?? '', h: home, '%': '%' };
  const written = /^WorkingDirectory=\s*-?(.+)$/m.exec(read(file))?.[1]?.trim() ?? '';
  const folder = written.replace(/^~$/, '%h').replaceAll(/%([ih%])/g, (_, sign: string) => meant[sign] ?? '');
  return folder.replace(/\/+$/, '') === project;
}

function agents(project: string, folder: string): KnownOwner[] {
  const escaped = project.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return entries(folder)
    .filter((name) => name.endsWith('.plist') && read(join(folder, name)).includes(`<string>${escaped}</string>`))
    .map((name) => {
      const label = name.slice(0, -'.plist'.length);
      const domain = folder.endsWith('LaunchDaemons') ? 'system' : `gui/${process.getuid?.() ?? 501}`;
      return {
        kind: 'launchd' as const,
        name: label,
        file: join(folder, name),
        start: `launchctl kickstart ${domain}/${label}`,
        remove: `launchctl bootout ${domain}/${label}`,
      };
    });
}

/** `pm2 save` writes the list that `pm2 resurrect` starts at boot. */
function savedApps(project: string, file: string | undefined): KnownOwner[] {
  if (file === undefined) return [];
  let saved: unknown;
  try {
    saved = JSON.parse(read(file));
  } catch {
    return []; // none was saved, or the format is unknown
  }
  if (!Array.isArray(saved)) return [];
  return saved
    .filter((app): app is { readonly name: string } => app?.pm_cwd === project && typeof app.name === 'string')
    .map(({ name }) => ({
      kind: 'pm2' as const,
      name,
      file,
      start: `pm2 start ${name}`,
      remove: `pm2 delete ${name} && pm2 save`,
    }));
}

function entries(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // unreadable: ignored
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // unreadable: ignored
  }
}
