// Writes files of a process manager, atomically and readable by all. Creates the folders that a hardened unit writes to.
import { chownSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import type { ProjectPaths } from '../../../shared/files/paths.ts';
import type { ServiceFile } from './service.ts';

export function writeServiceFile({ path, text }: ServiceFile): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileAtomic(path, text, { mode: 0o644 });
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** Creates missing `.svc` and `data` folders. The unit names them, and systemd requires named folders to exist. */
export function makeStateFolders({ stateDir, dataDir }: ProjectPaths, owner?: Owner): readonly string[] {
  return [stateDir, dataDir].filter((folder) => {
    const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (made !== undefined && owner !== undefined) chownSync(folder, owner.uid, owner.gid);
    return made !== undefined;
  });
}
