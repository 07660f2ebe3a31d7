// The list of ARCHITECTURE.md: the files that one webhook passes, from the socket to its row. Each is reached from the one before it by imports, in
// one direction, or both know the same port: what HTTP asks of the host, and what the host asks of the writer.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT, sourceFiles } from './source-tree.ts';

const MOST_FILES = 10;
/** From a file to one that it names itself, or through a table that it names. */
const MOST_STEPS = 3;
const PORT = /^worker\/(http\/api\/[^/]+|database\/unit)\.ts$/;

const imports = new Map(
  sourceFiles(['worker']).map((file) => [
    file.path,
    file.imports.filter(({ kind }) => kind === 'local').map(({ target }) => target),
  ]),
);
const section = /One webhook, from socket to row[\s\S]*?(?=^## )/m.exec(
  readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8'),
);
const path = [...(section?.[0] ?? '').matchAll(/^\| `([\w/-]+\.ts)`/gm)].map(([, name]) => `worker/${name}`);

function reached(from: string): ReadonlySet<string> {
  let open = [from];
  const seen = new Set(open);
  for (let step = 0; step < MOST_STEPS; step += 1) {
    open = open.flatMap((file) => imports.get(file) ?? []).filter((file) => !seen.has(file));
    for (const file of open) seen.add(file);
  }
  return seen;
}

describe('the way of a webhook', () => {
  it('is told in at most ten files, all of which are there', () => {
    assert.ok(path.length > 5 && path.length <= MOST_FILES, `${path.length} files`);
    assert.deepEqual(
      path.filter((file) => !imports.has(file)),
      [],
    );
  });

  it('goes in one direction', () => {
    const broken = path.slice(1).filter((file, index) => {
      const before = path.slice(0, index + 1);
      if (reached(file).has(before.at(-1) ?? '')) return true; // backwards
      return !before.some((one) => {
        const known = reached(one);
        return known.has(file) || [...reached(file)].some((port) => PORT.test(port) && known.has(port));
      });
    });

    assert.deepEqual(broken, []);
  });
});
