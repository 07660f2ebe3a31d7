// Names of a project's service for each process manager. Pure.
//
//   SERVICE-NAME-1  `svc@<user>` is the system service of the project in /srv/svc/<user>, and of no other folder.
//   SERVICE-NAME-2  A user's service is named by folder name and path hash, so that two folders of one name have two services.
import { createHash } from 'node:crypto';
import { basename } from 'node:path';

const SYSTEM_FOLDER = /^\/srv\/svc\/([a-z_][a-z0-9_-]{0,30})$/;
const HEX_DIGITS = 6;
const LONGEST_FOLDER = 100;

/** `svc@alice` for /srv/svc/alice. Undefined for other folders, which can have no system service. */
export function systemServiceName(project: string): string | undefined {
  const user = systemUser(project);
  return user === undefined ? undefined : `svc@${user}`;
}

/** The user of a folder's system service. */
export const systemUser = (project: string): string | undefined => SYSTEM_FOLDER.exec(project)?.[1];

/** `svc@alice.service` → `svc@.service`; other units as they are. */
export const templateOf = (unit: string): string => unit.replace(/@.*\.service$/, '@.service');

/** `svc-<folder>-<6 hex digits of the path's hash>`. */
export const userServiceName = (project: string): string => `svc-${folderAndHash(project)}`;

/** A launchd label, in reverse DNS by convention. */
export const launchdLabel = (project: string): string => `io.svc.${folderAndHash(project)}`;

/** Names of units and labels allow only letters, digits and a few other characters. */
function folderAndHash(project: string): string {
  const folder = basename(project)
    .replaceAll(/[^A-Za-z0-9_.]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '')
    .slice(0, LONGEST_FOLDER);
  return `${folder === '' ? 'project' : folder}-${pathHash(project)}`;
}

/** Tells two folders of one name apart, and names neither. */
export const pathHash = (project: string): string =>
  createHash('sha256').update(project).digest('hex').slice(0, HEX_DIGITS);
