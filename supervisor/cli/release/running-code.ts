// Which commit the code of a project is of, and what was edited in it since.
//
//   RUNNING-1  At the root of a repository HEAD follows each release, and tells. Below the root it must not move, since it is of other projects too:
//              there the last finished release tells, unless the code is nearer to HEAD, because somebody has checked another commit out since.
import { join } from 'node:path';
import { projectPaths } from '../../../shared/files/paths.ts';
import { listReleases } from '../../../shared/recovery/release-record.ts';
import { changedFiles, folderInRepository, git, presentCommit, type TreeOptions, withIndexOf } from './repository.ts';

interface RunningCode {
  /** Undefined outside of a repository. */
  readonly commit: string | undefined;
  /** Files of that commit that are not as it has them. */
  readonly changed: readonly string[];
}

/** RUNNING-1. */
export async function runningCode(options: TreeOptions): Promise<RunningCode> {
  const head = { commit: await presentCommit(options), changed: await changedFiles(options) };
  const commit = releasedCommit(options.project);
  if (commit === undefined || commit === head.commit || (await folderInRepository(options)) === '') return head;
  const changed = await changedSince(commit, options);
  return changed === undefined || head.changed.length < changed.length ? head : { commit, changed };
}

/** A release that was rolled back has left the code as it was before. */
function releasedCommit(project: string): string | undefined {
  const last = listReleases(project).findLast(({ state }) => state === 'finished');
  return last?.source.kind === 'commit' ? last.source.value : undefined;
}

/** Undefined where git does not know the commit any more. */
async function changedSince(commit: string, options: TreeOptions): Promise<readonly string[] | undefined> {
  const file = join(projectPaths(options.project).releasesDir, 'running.index');
  const told = await withIndexOf({ commit, file }, options, (of) =>
    git(of, ['diff', '--name-only', '-z', '--relative', '--', '.']),
  );
  if (told === undefined || told.failed) return undefined;
  return told.stdout.split('\0').filter((path) => path !== '');
}
