// The table of platforms and clauses is whole: every adapter has a cell for every clause, and what is said to be missing is.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { BUILT_INS } from '../../worker/runtime/loading/built-ins.ts';
import type { Can } from '../../worker/sdk/index.ts';
import { ADAPTERS, PLATFORM_CLAUSES, WITHOUT_CLAUSE } from './platform-cells.ts';
import { ROOT } from './source-tree.ts';

/** What `can` of an adapter says of a clause. */
const CAN: Readonly<Record<string, readonly (keyof Can)[]>> = {
  reactions: ['react'],
  'files, both ways': ['files'],
  buttons: ['buttons'],
  typing: ['typing'],
  'replies and threads': ['replies', 'threads'],
};

describe('the clauses of platforms', () => {
  it('are about every adapter that there is', () => {
    assert.deepEqual([...ADAPTERS].toSorted(), readdirSync(join(ROOT, 'worker/adapters')).toSorted());
  });

  it('have tests or a reason in every cell', () => {
    const clauses = new Set(PLATFORM_CLAUSES.map(({ id }) => id.split(': ')[1] ?? ''));
    const cells = [
      ...PLATFORM_CLAUSES.map(({ id }) => id.split(': ').slice(1).join(': ')),
      ...WITHOUT_CLAUSE.map(({ clause, platform }) => `${clause}: ${platform}`),
    ];

    assert.ok(clauses.size >= 12);
    for (const clause of clauses)
      for (const adapter of ADAPTERS)
        assert.equal(cells.filter((cell) => cell === `${clause}: ${adapter}`).length, 1, `${clause}: ${adapter}`);
    for (const { clause, platform, without } of WITHOUT_CLAUSE)
      assert.match(without, /\w+ \w+ \w+/, `${clause}: ${platform}`);
  });

  it('give reasons for what an adapter says that it cannot, and tests for what it can', async () => {
    for (const adapter of ADAPTERS) {
      const load = BUILT_INS[adapter];
      assert.ok(load, adapter);
      const { can } = (await load()) as { readonly can: Can };
      for (const [clause, keys] of Object.entries(CAN)) {
        const isThere = keys.some((key) => Boolean(can[key]));
        const isMissing = WITHOUT_CLAUSE.some((cell) => cell.clause === clause && cell.platform === adapter);
        assert.equal(isThere, !isMissing, `${clause}: ${adapter}`);
      }
    }
  });
});

describe('the suite of adapters, run for ours', () => {
  const files = ['contract', 'platforms'].flatMap((folder) =>
    readdirSync(join(ROOT, 'test', folder))
      .filter((name) => /^adapter-|-contract\.test\.ts$/.test(name))
      .map((name) => [name, readFileSync(join(ROOT, 'test', folder, name), 'utf8')] as const),
  );
  const count = (text: string, what: RegExp): number => text.match(what)?.length ?? 0;

  it('leaves nothing out but for a reason of the platform: each run says `without`', () => {
    assert.ok(files.length >= ADAPTERS.length);
    for (const [name, text] of files)
      assert.equal(count(text, /^ +without: \{/gm), count(text, /^ *adapterContract\(/gm), name);
  });

  it('is run for each of them', () => {
    for (const adapter of ADAPTERS)
      assert.ok(
        files.some(([name]) => name === `adapter-${adapter}.test.ts`),
        adapter,
      );
  });
});
