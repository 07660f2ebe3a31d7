// Moves to another file system, which a rename refuses: here between folders, since the steps are the same.
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { moveAcross } from '../../../shared/files/move-across.ts';

describe('a move to another file system', () => {
  const made = (t: { after(run: () => void): void }): string => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-move-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, 'from/tree/deep'), { recursive: true });
    mkdirSync(join(folder, 'to'));
    writeFileSync(join(folder, 'from/file'), 'text');
    writeFileSync(join(folder, 'from/tree/deep/file'), 'deep');
    symlinkSync('deep/file', join(folder, 'from/tree/link'));
    symlinkSync('nowhere', join(folder, 'from/tree/dangling'));
    return folder;
  };

  it('leaves the target whole and no source', (t) => {
    const folder = made(t);
    for (const name of ['file', 'tree']) moveAcross(join(folder, 'from', name), join(folder, 'to', name));

    assert.deepEqual(readdirSync(join(folder, 'from')), []);
    assert.deepEqual(readdirSync(join(folder, 'to')).toSorted(), ['file', 'tree']);
    assert.equal(readFileSync(join(folder, 'to/tree/link'), 'utf8'), 'deep');
    assert.equal(existsSync(join(folder, 'to/tree/dangling')), false);
  });

  it('replaces what a cut attempt has left', (t) => {
    const folder = made(t);
    mkdirSync(join(folder, 'to/tree.part/old'), { recursive: true });
    mkdirSync(join(folder, 'to/tree/old'), { recursive: true });

    moveAcross(join(folder, 'from/tree'), join(folder, 'to/tree'));

    assert.deepEqual(readdirSync(join(folder, 'to')), ['tree']);
    assert.deepEqual(readdirSync(join(folder, 'to/tree')).toSorted(), ['dangling', 'deep', 'link']);
  });
});
