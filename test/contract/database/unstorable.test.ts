// A value that no column takes, as plain JavaScript may hand it in: its unit is refused alone, and the writer goes on as before.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { threadRunner } from '../../../worker/database/database-host.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import type { Unit } from '../../../worker/database/unit.ts';
import { GroupingWriter, type GroupRunner, inlineRunner } from '../../../worker/database/writer.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';

const KINDS: readonly (readonly [string, (file: string) => GroupRunner])[] = [
  ['inline', (file) => inlineRunner(new WriterCore({ file, now: Date.now }))],
  ['in its thread', (file) => threadRunner({ file, failpoints: undefined })(() => {})],
];

async function open(t: Cleanup, make: (file: string) => GroupRunner) {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  const runner = make(file);
  await runner.open();
  const failures: string[] = [];
  const writer = new GroupingWriter(runner, { failed: ({ message }) => failures.push(message) });
  const reader = new SqliteReader(() => openReadOnly(file));
  t.after(async () => {
    reader.close();
    await runner.close();
  });
  return { writer, failures, keys: () => reader.run<{ key: string }>('SELECT key FROM meta').map(({ key }) => key) };
}

/** Its text is one that was never sent before: it gets a number of its own. */
const marked = (mark: string, value: unknown = mark): Unit => ({
  name: 'test.mark',
  statements: [{ sql: `INSERT INTO meta (key, value) VALUES (?, 'v') /* ${mark} */`, parameters: [value] }],
});

for (const [kind, make] of KINDS)
  describe(`a value that cannot be stored, by the writer ${kind}`, () => {
    it('refuses its unit alone, and later ones mean what they say', async (t) => {
      const { writer, failures, keys } = await open(t, make);
      const stored: string[] = [];

      for (const [n, odd] of [Promise.resolve('x'), () => 'x', Symbol('x'), new Date(0)].entries()) {
        const units = [marked(`before ${n}`), marked(`odd ${n}`, odd), marked(`after ${n}`)];
        const answers = await Promise.all(units.map((unit) => writer.commit(unit)));
        const later = await writer.commit(marked(`later ${n}`));

        assert.deepEqual(
          [...answers, later].map((answer) => (answer.kind === 'refused' ? answer.reason : answer.kind)),
          ['committed', 'constraint', 'committed', 'committed'],
          `value ${n}`,
        );
        stored.push(`before ${n}`, `after ${n}`, `later ${n}`);
      }

      assert.deepEqual([keys().sort(), failures], [stored.sort(), []]);
    });
  });

describe('the answer to a unit that cannot be sent', () => {
  it('names the unit, the statement and what the value is, never what it holds', async (t) => {
    const { writer } = await open(t, (file) => threadRunner({ file, failpoints: undefined })(() => {}));
    const fine = marked('fine').statements;

    const answer = await writer.commit({
      name: 'test.odd',
      statements: [...fine, { sql: 'SELECT ?, ?', parameters: ['private words', Promise.resolve('private words')] }],
    });

    assert.ok(answer.kind === 'refused');
    assert.equal(answer.detail, 'test.odd: value 2 of statement 2 is a Promise, which cannot be stored');
  });
});
