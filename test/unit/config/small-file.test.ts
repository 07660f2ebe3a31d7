// Files that people write are read whole, whatever the file system says of their size, and no further than their limit.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, it } from 'node:test';
import { LARGEST_FILE_BYTES, readSmallFile } from '../../../shared/config/checks/small-file.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

describe('a small file', () => {
  for (const bytes of [0, 1, 4_095, 4_096, 4_097, 100_000, LARGEST_FILE_BYTES]) {
    it(`of ${bytes} bytes is read whole`, (t) => {
      const project = temporaryProject(t);
      project.write('file.txt', 'x'.repeat(bytes));

      const read = readSmallFile(`${project.path}/file.txt`);

      assert.equal(read.kind === 'text' && read.text === 'x'.repeat(bytes), true);
    });
  }

  it('is refused when it is larger than the limit', (t) => {
    const project = temporaryProject(t);
    project.write('file.txt', 'x'.repeat(LARGEST_FILE_BYTES + 1));

    assert.equal(readSmallFile(`${project.path}/file.txt`).kind, 'refused');
  });

  const withoutSize = '/proc/self/limits';
  it('is read also where its size is not told', { skip: !existsSync(withoutSize) && 'no /proc' }, () => {
    const read = readSmallFile(withoutSize);

    assert.match(read.kind === 'text' ? read.text : read.kind, /^Limit .*\n(.*\n)+$/);
  });
});
