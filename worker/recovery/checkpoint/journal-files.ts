// The journal of a Workroom that is kept in files: whole lines up to the barrier.
//
//   JOURNAL-FILES-1  At the barrier each segment is linked, and its length noted. A segment that is written anew gets another file, so the link keeps
//                    the one of the barrier. Lines behind the length are of later events.
//   JOURNAL-FILES-2  Events that no file has yet are in the spool, which is part of the database.
import { copyFileSync, existsSync, linkSync, readdirSync, statSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { projectPaths } from '../../../shared/files/paths.ts';
import type { SecretRegistry } from '../../../shared/log/redaction.ts';
import { CHECKPOINT_FILES } from '../../../shared/recovery/layout.ts';
import { type Part, writePart } from './copied-files.ts';

export interface HeldFile {
  /** In the folder of the checkpoint, once it is copied. */
  readonly path: string;
  readonly bytes: number;
}

const SEGMENT = /^\d{20}\.wjl$/;
const LF = 10;
const heldName = (path: string): string => `${path.replaceAll('/', '-')}.held`;

/** Called at the barrier. Empty without a journal in files. */
export function holdJournal(project: string, folder: string): readonly HeldFile[] {
  const { workroomJournal, workroomCatalog } = projectPaths(project);
  const hold = (from: string, path: string): HeldFile => {
    const to = join(folder, heldName(path));
    try {
      linkSync(from, to);
    } catch {
      copyFileSync(from, to); // a file system without links
    }
    return { path, bytes: statSync(to).size };
  };
  if (!existsSync(workroomJournal)) return [];
  const segments = readdirSync(workroomJournal).filter((name) => SEGMENT.test(name));
  return [
    ...segments.map((name) => hold(join(workroomJournal, name), `${CHECKPOINT_FILES.journal}/${name}`)),
    ...(existsSync(workroomCatalog) ? [hold(workroomCatalog, CHECKPOINT_FILES.catalog)] : []),
  ];
}

/** Writes what was held as parts. The texts are of people, so secrets in them are counted by line. */
export async function takeHeld(
  folder: string,
  held: readonly HeldFile[],
  secrets: SecretRegistry,
): Promise<{ readonly parts: readonly Part[]; readonly hits: number }> {
  const parts: Part[] = [];
  let hits = 0;
  for (const { path, bytes } of held) {
    const from = join(folder, heldName(path));
    const content = (await readFile(from)).subarray(0, bytes);
    const whole = content.subarray(0, content.lastIndexOf(LF) + 1);
    hits += whole
      .toString('utf8')
      .split('\n')
      .filter((line) => secrets.find(line).length > 0).length;
    if (whole.length > 0) parts.push(await writePart(folder, path, whole));
    await rm(from);
  }
  return { parts, hits };
}
