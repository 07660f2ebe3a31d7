// What an image holds: each file of the project with its rights and its digest, and texts that occur in a layer.
import type { Engine } from './engine.ts';

/** Lines of path, type, rights, owner and target of a link, then of digests. */
export async function filesOfImage(engine: Engine, image: string): Promise<readonly string[]> {
  const root = await engine.must(`podman image mount ${image}`);
  const listed = await engine.must(
    `cd ${root} && find app -printf '%p %y %m %U:%G %l\\n' | sort && find app -type f -print0 | sort -z | xargs -0 sha256sum`,
  );
  await engine.must(`podman image unmount ${image}`);
  return listed.split('\n');
}

/** Those of the texts that are in the configuration, in the history or in any layer: also in files that a later layer has removed. */
export async function textsInImage(
  engine: Engine,
  image: string,
  texts: readonly string[],
): Promise<readonly string[]> {
  // Layers of this format are archives that are not compressed.
  await engine.must(`podman save --quiet --format docker-archive -o image.tar ${image}`);
  const patterns = texts.map((text) => `-e '${text}'`).join(' ');
  const found = await engine.must(`grep -aohF ${patterns} image.tar | sort -u; rm image.tar`);
  return found === '' ? [] : found.split('\n');
}
