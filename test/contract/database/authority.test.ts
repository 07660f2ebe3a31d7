// The fence of a unit: refused before anything of it is written, once another start has taken the authority.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { holdsAuthority, readAuthority, takeAuthority } from '../../../worker/database/authority.ts';
import { threadRunner } from '../../../worker/database/database-host.ts';
import { SqliteReader } from '../../../worker/database/reader.ts';
import { openReadOnly } from '../../../worker/database/sqlite/connection.ts';
import { WriterCore } from '../../../worker/database/sqlite/writer-core.ts';
import { sql, statement } from '../../../worker/database/statement.ts';
import type { Statement, Unit } from '../../../worker/database/unit.ts';
import { GroupingWriter, type GroupRunner, inlineRunner } from '../../../worker/database/writer.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';

const KINDS: Readonly<Record<string, (file: string) => GroupRunner>> = {
  inline: (file) => inlineRunner(new WriterCore({ file, now: Date.now })),
  'in its thread': (file) => threadRunner({ file, failpoints: undefined })(() => {}),
};
const put = (key: string): Statement => statement(sql.insertInto('meta').values({ key, value: 'v' }).returning('key'));
const unit = (fence: Statement | undefined, ...statements: readonly Statement[]): Unit => ({
  name: 'test',
  fence,
  statements,
});

async function writerOn(t: Cleanup, make: (file: string) => GroupRunner) {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  const runner = make(file);
  await runner.open();
  const writer = new GroupingWriter(runner);
  const reader = new SqliteReader(() => openReadOnly(file));
  t.after(async () => {
    await writer.flush();
    reader.close();
    await runner.close();
  });
  const begin = async (): Promise<number> => {
    const answer = await writer.commit(unit(undefined, takeAuthority()));
    return answer.kind === 'committed' ? Number(answer.rows[0]?.[0]?.['value']) : Number.NaN;
  };
  return { writer, reader, begin };
}

for (const [kind, make] of Object.entries(KINDS))
  describe(`the authority to write, ${kind}`, () => {
    it('is of the start that took it last: what another one fenced is refused, whole and alone', async (t) => {
      const { writer, reader, begin } = await writerOn(t, make);
      const first = holdsAuthority(await begin());
      const before = await writer.commit(unit(first, put('a'), put('b')));
      const second = holdsAuthority(await begin());

      const [stale, held, open] = await Promise.all([
        writer.commit(unit(first, put('c'))),
        writer.commit(unit(second, put('d'))),
        writer.commit(unit(undefined, put('e'))),
      ]);

      assert.deepEqual(before.kind === 'committed' && before.rows, [[{ key: 'a' }], [{ key: 'b' }]]);
      assert.deepEqual(stale.kind === 'refused' && [stale.reason, stale.guard], ['guard', 'fence']);
      assert.deepEqual([held.kind, open.kind], ['committed', 'committed']);
      assert.deepEqual(
        reader.run<{ key: string }>('SELECT key FROM meta ORDER BY key').map(({ key }) => key),
        ['a', 'b', 'd', 'e'],
      );
      assert.equal(await readAuthority(reader), 2);
    });

    it('may fence a unit that has nothing else', async (t) => {
      const { writer, begin } = await writerOn(t, make);
      const mine = await begin();

      const answers = [mine, mine + 1].map((value) => writer.commit(unit(holdsAuthority(value))));

      assert.deepEqual(
        (await Promise.all(answers)).map(({ kind }) => kind),
        ['committed', 'refused'],
      );
    });
  });
