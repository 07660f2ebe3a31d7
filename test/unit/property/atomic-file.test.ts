import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { stableJson, syncFolder, writeFileAtomic } from '../../../shared/files/atomic-file.ts';
import type { FilePort } from '../../../shared/files/file-port.ts';
import { PowerCut, SimFiles } from '../../support/disk/sim-files.ts';

const PATH = '/p/.svc/record.json';

/** Contents that a cut after call number `at` may leave, and whether the write had returned. */
function cutAfter(
  at: number,
  write: (files: FilePort) => void,
  before: string | undefined,
): { contents: ReadonlySet<string | undefined>; returned: boolean } {
  const files = new SimFiles({}, at);
  if (before !== undefined) files.seed(PATH, before);
  let returned = false;
  try {
    write(files);
    returned = true;
  } catch (error) {
    if (!(error instanceof PowerCut)) throw error;
  }
  return { contents: files.afterPowerCut(PATH), returned };
}

describe('writeFileAtomic', () => {
  it('leaves the old file or the new one after a power cut at any call, and the new one once it has returned', () => {
    fc.assert(
      fc.property(
        fc.option(fc.string({ maxLength: 12 }), { nil: undefined }),
        fc.string({ minLength: 1, maxLength: 12 }),
        (before, after) => {
          for (let at = 0; at <= 12; at += 1) {
            const { contents, returned } = cutAfter(at, (files) => writeFileAtomic(PATH, after, { files }), before);
            for (const content of contents)
              assert.ok(content === after || content === before, `cut after ${at}: ${JSON.stringify(content)}`);
            if (returned) assert.deepEqual([...contents], [after]);
          }
        },
      ),
    );
  });

  it('keeps the old file when the disk is full at any call, and says so', () => {
    for (let failAt = 1; failAt <= 3; failAt += 1) {
      const files = new SimFiles({ failAt });
      files.seed(PATH, 'old');

      assert.throws(() => writeFileAtomic(PATH, 'new', { files }), { code: 'ENOSPC' });

      assert.equal(files.read(PATH), 'old');
    }
  });

  for (const [name, write] of [
    ['without the sync of the file', (files: FilePort) => unsynced(files, { file: false, folder: true })],
    ['without the sync of the folder', (files: FilePort) => unsynced(files, { file: true, folder: false })],
  ] as const) {
    it(`would lose an acknowledged write ${name}: the simulated disk sees it`, () => {
      const { contents, returned } = cutAfter(99, write, 'old');

      assert.ok(returned);
      assert.ok(
        [...contents].some((content) => content !== 'new'),
        'the planted fault is not seen',
      );
    });
  }
});

describe('stableJson', () => {
  it('has sorted keys and ends in a newline', () => {
    assert.equal(stableJson({ b: 1, a: { d: 2, c: 3 } }), '{\n  "a": {\n    "c": 3,\n    "d": 2\n  },\n  "b": 1\n}\n');
  });
});

/** The same steps with one left out. */
function unsynced(files: FilePort, keep: { readonly file: boolean; readonly folder: boolean }): void {
  const file = files.open(`${PATH}.tmp`, 'w');
  files.write(file, 'new');
  if (keep.file) files.sync(file);
  files.close(file);
  files.rename(`${PATH}.tmp`, PATH);
  if (keep.folder) syncFolder('/p/.svc', files);
}
