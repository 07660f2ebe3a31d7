// Which image runs a command. An image is known by its lockfile and by the commit that its build noted.
import { imageCommit } from '../../../shared/recovery/image-commit.ts';
import type { ReleasedVersion } from '../../../shared/recovery/release-record.ts';
import { presentCommit } from './repository.ts';
import { type SvcCaller, treeOptions } from './svc-call.ts';
import { lockfileOf } from './tree.ts';

export type ImageVersion = Pick<ReleasedVersion, 'commit' | 'lockfile' | 'image'>;

export async function imageHere(caller: SvcCaller): Promise<ImageVersion> {
  const { project, context } = caller;
  return {
    commit: (await presentCommit(treeOptions(caller))) ?? imageCommit(context.env)?.id ?? null,
    lockfile: lockfileOf(project),
    image: context.env['PROJECT_IMAGE'] || null,
  };
}

export const isSameImage = (one: ImageVersion, other: ImageVersion): boolean =>
  one.commit === other.commit && one.lockfile === other.lockfile;

/** For a person who has to find it: `shop:41 (commit 9f2a61b0c3de, lockfile 41ab99e0f2c1)`. */
export function imageText({ image, commit, lockfile }: ImageVersion): string {
  const known = [
    commit === null ? 'no commit noted' : `commit ${commit.slice(0, 12)}`,
    lockfile === null ? 'no lockfile' : `lockfile ${lockfile.slice(0, 12)}`,
  ].join(', ');
  return image == null ? `the image with ${known}` : `${image} (${known})`;
}
