// Who starts a project by itself, told from the files that owners keep, without asking any of them: units, launch agents, PM2's saved list.
//
//   O1  An owner counts when it would start the project without being told: an enabled unit, an agent at all, an app in PM2's saved list.
//   O2  A unit is known by the folder that it works in or names, not by its own name: one written by hand counts too.
//   O3  A file that cannot be read is no owner: this warns, the writer lock decides.
import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { agentFolder } from './launchd.ts';
import { userUnits } from './systemd.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface KnownOwner {
  readonly kind: 'systemd' | 'launchd' | 'pm2';
  /** `svc@alice.service`, a label, the name of an app. */
  readonly name: string;
  /** Where it says so. */
  readonly file: string;
  /** Its own commands. */
  readonly start: string;
  readonly remove: string;
}

export interface OwnerPlaces {
  readonly systemUnits: string;
  readonly userUnits: string;
  /** Of the user whose manager has `userUnits`. */
  readonly home: string;
  readonly agents: readonly string[];
  readonly pm2: string;
}

export function ownerPlaces(env: Environment): OwnerPlaces {
  return {
    systemUnits: '/etc/systemd/system',
    userUnits: userUnits(env),
    home: env['HOME'] ?? homedir(),
    agents: [agentFolder(env), '/Library/LaunchAgents', '/Library/LaunchDaemons'],
    pm2: join(env['PM2_HOME'] ?? join(env['HOME'] ?? homedir(), '.pm2'), 'dump.pm2'),
  };
}

/** Every owner that would start this project (O1). */
export function knownOwners(project: string, places: OwnerPlaces): readonly KnownOwner[] {
  return [
    ...units(project, { folder: places.systemUnits, systemctl: 'systemctl', home: '/root' }),
    ...units(project, { folder: places.userUnits, systemctl: 'systemctl --user', home: places.home }),
    ...places.agents.flatMap((folder) => agents(project, folder)),
    ...savedApps(project, places.pm2),
  ];
}

interface UnitFolder {
  readonly folder: string;
  readonly systemctl: string;
  /** What `%h` is there. */
  readonly home: string;
}

function units(project: string, { folder, systemctl, home }: UnitFolder): KnownOwner[] {
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

/** `svc@alice.service` → `svc@.service`. */
const templateOf = (name: string): string => name.replace(/@.*\.service$/, '@.service');

/** By `WorkingDirectory=`, with what the specifiers `%i` and `%h` stand for (O2); a `-` before it lets the folder be missing. */
function worksIn(
  project: string,
  { file, name, home }: { readonly file: string; readonly name: string; readonly home: string },
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

/** `pm2 save` keeps what `pm2 resurrect` starts again at boot. */
function savedApps(project: string, file: string): KnownOwner[] {
  let saved: unknown;
  try {
    saved = JSON.parse(read(file));
  } catch {
    return []; // none was saved, or it is of another form
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
    return []; // O3
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // O3
  }
}
