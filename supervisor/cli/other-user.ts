// Refuses a command that writes into the state of another user. Root may write there, and no host of that user could use its files afterwards.
//
//   OTHER-USER-1  A command leaves no file of root in `.svc` or `data` of another user. What a host writes for a command is the host's own.
//   OTHER-USER-2  The owner of `.svc` is the user of the host. What root owns is nobody else's: a mount point, or the state of a host that root runs.
import { readFileSync, statSync } from 'node:fs';
import { projectPaths } from '../../shared/files/paths.ts';
import { SvcError } from '../../shared/svc-error.ts';

/** Throws `state_dir_unsafe`. */
export function refuseOtherUser(project: string): void {
  const other = otherUser(project);
  if (other === undefined) return;
  const { place, owner, uid } = other;
  throw new SvcError(
    'state_dir_unsafe',
    `${place} belongs to ${userText(owner)}, and this is ${userText(uid)}: a host could not use the files that this command leaves there`,
    {
      hint: `run the same command as that user: sudo -u ${userName(owner) ?? `'#${owner}'`} svc …; nothing was changed`,
    },
  );
}

/** Undefined where the state is of this user, of root, or of nobody yet. */
export function otherUser(
  project: string,
): { readonly place: string; readonly owner: number; readonly uid: number } | undefined {
  const uid = process.getuid?.();
  const { stateDir } = projectPaths(project);
  // What root made in a project that has never run would be in the way of its first host.
  const place = ownerOf(stateDir) === undefined && uid === 0 ? project : stateDir;
  const owner = ownerOf(place);
  if (uid === undefined || owner === undefined || owner === uid || owner === 0) return undefined;
  return { place, owner, uid };
}

function ownerOf(path: string): number | undefined {
  try {
    return statSync(path).uid;
  } catch {
    return undefined; // not there, or hidden from this user
  }
}

const userText = (uid: number): string => userName(uid) ?? `user ${uid}`;

function userName(uid: number): string | undefined {
  try {
    const users = readFileSync('/etc/passwd', 'utf8').split('\n');
    return users.map((line) => line.split(':')).find(([, , id]) => id === String(uid))?.[0];
  } catch {
    return undefined; // no such file on this machine
  }
}
