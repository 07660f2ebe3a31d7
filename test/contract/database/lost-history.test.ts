// A file that was emptied or removed before this process: nothing is made in its place while there is something to lose.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { systemClock } from '../../../shared/clock.ts';
import { DatabaseHost } from '../../../worker/database/database-host.ts';
import { inlineRunner } from '../../../worker/database/writer.ts';
import { WriterCore } from '../../../worker/database/writer-core.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';
import { until } from '../../support/until.ts';

function fileOf(t: Cleanup): string {
  const file = join(temporaryProject(t).path, '.svc', 'data.sqlite');
  mkdirSync(dirname(file), { recursive: true });
  return file;
}

function hostOf(t: Cleanup, file: string) {
  const states: string[] = [];
  const core = new WriterCore({ file, now: Date.now });
  const host = new DatabaseHost({
    file,
    clock: systemClock,
    makeRunner: () => inlineRunner(core),
    onState: (state) => states.push(state.kind === 'failed' ? state.code : state.kind),
  });
  t.after(() => host.close());
  return { host, states };
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
      const former = hostOf(t, file).host;
      await former.open();
      await former.close();
      if (log !== '') writeFileSync(`${file}-wal`, log);
      lose(file);
      const { host, states } = hostOf(t, file);

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

    assert.equal((await hostOf(t, file).host.open()).kind, 'open');
  });
});
