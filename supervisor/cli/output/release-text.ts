// The open release, for `runtime status`. Read from its folder, so that it is told whatever answers.
import { existsSync } from 'node:fs';
import { projectPaths } from '../../../shared/files/paths.ts';
import { coerceError } from '../../../shared/svc-error.ts';

export interface OpenRelease {
  readonly name: string;
  readonly state: string;
  readonly verdict: string | null;
  readonly windowUntil: string | null;
  /** The command that goes on. */
  readonly next: string;
}

/** Null without one. A project that never had a release loads nothing here. */
export async function readOpenRelease(project: string): Promise<OpenRelease | { readonly fault: string } | null> {
  if (!existsSync(projectPaths(project).releasesDir)) return null;
  const [{ openRelease }, { commandAfter }] = await Promise.all([
    import('../../../shared/recovery/release-record.ts'),
    import('../../../shared/recovery/release-machine.ts'),
  ]);
  try {
    const record = openRelease(project);
    if (record === undefined) return null;
    const { name, state, verdict, windowUntil } = record;
    const next = `svc release ${commandAfter(state) ?? 'status'}`;
    return { name, state, verdict: verdict?.verdict ?? null, windowUntil, next };
  } catch (error) {
    return { fault: coerceError(error).message };
  }
}

/** No line without an open release. */
export function releaseLines(release: Awaited<ReturnType<typeof readOpenRelease>>): readonly string[] {
  if (release === null) return [];
  const title = 'release'.padEnd(11);
  if ('fault' in release) return [`${title} cannot be read: ${release.fault}`];
  const { name, state, verdict, windowUntil, next } = release;
  const facts = [
    `${name} ${state}`,
    ...(verdict === null ? [] : [verdict]),
    ...(windowUntil === null ? [] : [`window until ${windowUntil}`]),
    `next: ${next}`,
  ];
  return [`${title} ${facts.join(', ')}`];
}
