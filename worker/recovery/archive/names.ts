// Names that a checkpoint and its archive may have, judged before any file is made.
//
//   ARCHIVE-NAMES-1  A name is a path of plain segments below the folder. It never leaves it, and two names are never one file on any file system.
import { MANIFEST_FORMAT, type Manifest } from '../../../shared/recovery/manifest.ts';

export const MOST_ENTRIES = 100_000;
const MOST_BYTES = 1_024;
/** Bytes of a name between two `/`, on common file systems. */
const MOST_SEGMENT_BYTES = 255;

const ALLOWED = /^(data\.sqlite|data\.dump|catalog\.json|jobs\.json|journal\/[^/]+|project\/.+|files\/[0-9a-f]{64})$/u;
/** State and secrets of a project: no checkpoint holds them, so no archive brings them. */
const NEVER = /^project\/(\.svc|\.git|\.env|\.npmrc)(\/|$)/iu;

/** Why a name is refused. Undefined if it may be written. */
export function nameFault(path: string): string | undefined {
  if (path.startsWith('/') || /^[a-z]:/iu.test(path)) return 'is an absolute path';
  const segments = path.split('/');
  if (segments.includes('..')) return 'leaves the folder';
  if (segments.some((segment) => segment === '' || segment === '.')) return 'has an empty segment';
  if (/[\p{Cc}\\]/u.test(path) || !path.isWellFormed()) return 'holds a character that no name may have';
  if (Buffer.byteLength(path) > MOST_BYTES || segments.some((one) => Buffer.byteLength(one) > MOST_SEGMENT_BYTES))
    return 'is too long';
  if (!ALLOWED.test(path)) return 'is no file of a checkpoint';
  return NEVER.test(path) ? 'is no file that a checkpoint may hold' : undefined;
}

/** Equal for names that are one file on a file system without case, or with one spelling of accents. */
const folded = (path: string): string => path.normalize('NFC').toLowerCase();

/** The first fault of the names in a manifest. Undefined if each part can be written. */
export function namesFault(parts: Manifest['parts']): string | undefined {
  if (parts.length >= MOST_ENTRIES) return `${MANIFEST_FORMAT} takes at most ${MOST_ENTRIES} entries`;
  const known = new Map<string, string>();
  for (const { path, sha256 } of parts) {
    const fault = nameFault(path);
    if (fault !== undefined) return `the part ${quoted(path)} ${fault}`;
    const other = known.get(folded(path));
    if (other === path) return `the part ${quoted(path)} is named twice`;
    if (other !== undefined) return `the parts ${quoted(other)} and ${quoted(path)} are one file on some file systems`;
    known.set(folded(path), path);
    if (path.startsWith('files/') && path !== `files/${sha256}`)
      return `the part ${quoted(path)} is not named by its hash`;
  }
  for (const path of known.keys())
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
      if (known.has(path.slice(0, at))) return `the part ${quoted(path)} lies below a file`;
  return undefined;
}

/** A name in a message: one line, no control characters, not endless. */
export const quoted = (path: string): string => JSON.stringify(path.length > 200 ? `${path.slice(0, 200)}…` : path);
