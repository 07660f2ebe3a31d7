// A file that was emptied or removed before this process: nothing is made in its place while there is something to lose.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { databaseHost } from '../../support/database-host.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

function fileOf(t: Cleanup): string {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

describe('a lost history', () => {
  for (const [what, log, lose] of [
    ['emptied after a clean end', '', (file: string) => truncateSync(file)],
    [
      'emptied while its log has the last commits',
      'commits',
      (file: string) => {
        rmSync(`${file}.known`);
        truncateSync(file);
      },
    ],
    ['removed while its log has the last commits', 'commits', (file: string) => rmSync(file)],
  ] as const)
    it(`is not replaced where the file was ${what}, until what is left of it is removed too`, async (t) => {
      const file = fileOf(t);
      const former = databaseHost(t, file).host;
      await former.open();
      await former.close();
      if (log !== '') writeFileSync(`${file}-wal`, log);
      lose(file);
      const { host, states } = databaseHost(t, file);

      const { kind } = await host.open();
      await assert.rejects(host.commit({ name: 'test', statements: [] }), { code: 'storage_unavailable' });
      const left = [bytesOf(file), bytesOf(`${file}-wal`)];
      for (const name of [file, `${file}-wal`]) rmSync(name, { force: true });
      await until(() => host.state.kind === 'open', { what: 'a new history' });

      assert.deepEqual([kind, states], ['failed', ['storage_unavailable', 'open']]);
      assert.deepEqual(left, [0, log.length]);
    });

  it('is nothing that an empty file which never was a database has', async (t) => {
    const file = fileOf(t);
    writeFileSync(file, '');

    assert.equal((await databaseHost(t, file).host.open()).kind, 'open');
  });
});
