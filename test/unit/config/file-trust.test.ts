// Who can change a file: by mode, owner, group, links and the folders around it.
import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { judgeFiles, untrustedInProject, untrustedOf, withFolders } from '../../../shared/config/checks/file-trust.ts';
import { projectPaths } from '../../../shared/files/paths.ts';

const skip = process.getuid?.() !== 0 && 'only root gives files away';

function folder(t: TestContext): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'svc-trust-')));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function file(path: string, mode: number): string {
  writeFileSync(path, '');
  chmodSync(path, mode);
  return path;
}

const told = (paths: readonly string[], project: string, uid?: number): readonly string[] =>
  untrustedOf(paths, project, uid).map(({ name, why }) => `${name} ${why}`);

describe('files that others can change', () => {
  it('are those with write access for others (FILE-TRUST-1)', (t) => {
    const project = folder(t);
    for (const mode of [0o600, 0o644, 0o755, 0o444])
      assert.deepEqual(told([file(join(project, 'a'), mode)], project), []);
    for (const mode of [0o646, 0o666, 0o777, 0o602])
      assert.deepEqual(told([file(join(project, 'a'), mode)], project), ['a others']);
  });

  it('are in a folder that others may write, but for one with the sticky bit (FILE-TRUST-1)', (t) => {
    const project = folder(t);
    mkdirSync(join(project, 'deep/inner'), { recursive: true });
    const code = file(join(project, 'deep/inner/a.js'), 0o644);
    chmodSync(join(project, 'deep'), 0o777);
    assert.deepEqual(told(withFolders(code, project), project), ['deep others']);
    chmodSync(join(project, 'deep'), 0o1777);
    assert.deepEqual(told(withFolders(code, project), project), []);
  });

  it('are those of a stranger, but not those of root, and for root of nobody (FILE-TRUST-2)', { skip }, (t) => {
    const project = folder(t);
    const [path, ofRoot] = [file(join(project, 'a'), 0o600), file(join(project, 'b'), 0o600)];
    chownSync(path, 4_242, 4_242);
    assert.deepEqual(told([path, ofRoot], project, 4_243), ['a stranger']);
    assert.deepEqual(told([path, ofRoot], project, 4_242), []);
    assert.deepEqual(told([path, ofRoot], project), []);
  });

  it('are those of a group of several users, where a group of one user is nobody else (FILE-TRUST-3)', {
    skip,
  }, (t) => {
    const project = folder(t);
    const path = file(join(project, 'a'), 0o664);
    assert.deepEqual(told([path], project), [], 'as a clone with umask 002 leaves it');
    chownSync(path, 0, 4_242);
    assert.deepEqual(told([path], project), ['a group']);
    const { error, warnings } = judgeFiles(untrustedOf([path], project), 'production');
    assert.deepEqual([error, warnings], [undefined, ['a:1:1 can be written by group 4242 (mode 0664); chmod g-w a']]);
  });

  it('are found behind a symbolic link, with the folder that holds them (FILE-TRUST-5)', (t) => {
    const [project, other] = [folder(t), folder(t)];
    file(join(other, 'a'), 0o644);
    symlinkSync(join(other, 'a'), join(project, 'a'));
    chmodSync(other, 0o777);
    assert.deepEqual(told([join(project, 'a')], project), [`${other} others`]);
  });

  it('are told with a command that a shell takes as it is', (t) => {
    const project = folder(t);
    const [found] = untrustedOf([file(join(project, "it's $HOME"), 0o666)], project);
    assert.equal(found?.remedy, "chmod o-w,g-w 'it'\\''s $HOME'");
  });

  it('need not be there; and the mode of .env is judged by whoever reads it', (t) => {
    const project = folder(t);
    file(join(project, '.env'), 0o666);
    assert.deepEqual(untrustedInProject(projectPaths(project)), []);
  });
});
