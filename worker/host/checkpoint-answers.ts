// Checkpoints as `/api/checkpoints` shows them. Demo scope sees no reason, no target, no name of a secret and no path.
import type { Checkpoint, Checkpoints } from '../../shared/api/recovery/checkpoint.ts';
import type { StoredCheckpoint } from '../../shared/recovery/stored-checkpoints.ts';

export function shownOf(
  { name, manifest, bytes, level, verification, fault }: StoredCheckpoint,
  texts: boolean,
): Checkpoint {
  return {
    name,
    createdAt: manifest?.createdAt ?? null,
    bytes,
    level,
    verifiedAt: verification?.at ?? null,
    fault: fault === undefined ? null : texts ? fault : level,
    ...(texts ? { reason: manifest?.reason ?? null } : {}),
  };
}

/** Without the list of files. */
export function manifestOf({ manifest }: StoredCheckpoint, texts: boolean): Pick<Checkpoint, 'manifest'> {
  if (manifest === undefined) return {};
  const { parts: _parts, secrets, reason, jobs, ...rest } = manifest;
  if (!texts) return { manifest: { ...rest, jobs: { count: jobs.count, revision: jobs.revision } } };
  return { manifest: { ...rest, reason, jobs, secrets: secrets.map(({ name }) => name) } };
}

export function lastFor({ warnings, ...last }: NonNullable<Checkpoints['last']>, texts: boolean): Checkpoints['last'] {
  return { ...last, ...(texts && warnings !== undefined ? { warnings } : {}) };
}

export function failureFor(
  { message, hint, ...failure }: NonNullable<Checkpoints['failure']>,
  texts: boolean,
): Checkpoints['failure'] {
  return { ...failure, ...(texts ? { message: message ?? '', hint: hint ?? null } : {}) };
}

const FILES_NAMED = 3;

/** The warning that a restore of this checkpoint brings data of one version beside files of another. */
export function differsText(files: readonly string[]): readonly string[] {
  if (files.length === 0) return [];
  const more = files.length > FILES_NAMED ? ` and ${files.length - FILES_NAMED} more` : '';
  const named = files.slice(0, FILES_NAMED).join(', ');
  return [
    `the host runs with other files than this checkpoint has: ${named}${more}; svc runtime restart takes them in`,
  ];
}
