// The declarations of the SDK as a snapshot: what plugins see changes on purpose or not at all.
// A wanted change: run once with UPDATE_SNAPSHOTS=1 and read the difference like code.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from './source-tree.ts';

const DECLARATIONS = join(ROOT, 'dist/sdk');
const SNAPSHOT = join(ROOT, 'test/rules/sdk-api.snapshot.d.ts.txt');

describe('the declarations of svc and svc/testing', () => {
  it('are those that were reviewed', () => {
    const now = reachable(['worker/sdk/index.d.ts', 'worker/testing/index.d.ts'])
      .map((name) => `// ${name}\n${readFileSync(join(DECLARATIONS, name), 'utf8').trim()}\n`)
      .join('\n');
    if (process.env['UPDATE_SNAPSHOTS'] === '1') writeFileSync(SNAPSHOT, now);

    assert.equal(now, readFileSync(SNAPSHOT, 'utf8'));
  });

  it('name no file that is not published', () => {
    const present = new Set(readdirSync(DECLARATIONS, { recursive: true, encoding: 'utf8' }));

    assert.deepEqual(
      reachable(['worker/sdk/index.d.ts', 'worker/testing/index.d.ts']).filter((name) => !present.has(name)),
      [],
    );
  });
});

/** Declaration files that the entries reach, sorted. */
function reachable(entries: readonly string[]): string[] {
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const text = readFileSync(join(DECLARATIONS, name), 'utf8');
    for (const [, specifier = ''] of text.matchAll(/['"](\.{1,2}\/[^'"]+)\.js['"]/g))
      visit(join(name, '..', `${specifier}.d.ts`));
  };
  for (const entry of entries) visit(entry);
  return [...seen].sort();
}
