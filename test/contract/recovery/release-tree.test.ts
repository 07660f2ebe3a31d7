// The tree of a release that was checked: it is known again at the exchange, also where a start was cut behind the configuration that it took.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { isChecked } from '../../../supervisor/cli/release/check-tree.ts';
import { syncCode } from '../../../supervisor/cli/release/sync-code.ts';
import { hashOfTree, makeTree, nextTree, takePresentConfig } from '../../../supervisor/cli/release/tree.ts';
import { capturedContext } from '../../support/commands/cli-context.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

async function checked(t: TestContext, { hasConfig }: { readonly hasConfig: boolean }) {
  const project = temporaryProject(t);
  const { path, paths } = project;
  const from = mkdtempSync(join(tmpdir(), 'svc-next-'));
  t.after(() => rmSync(from, { recursive: true, force: true }));
  for (const name of ['package.json', ...(hasConfig ? ['svc.config.yml'] : [])])
    writeFileSync(join(from, name), project.read(name));
  const env = { PATH: process.env['PATH'] };
  const options = { project: path, env, signal: t.signal };
  const source = { kind: 'folder', value: from } as const;
  const next = nextTree(path, 'r1');
  mkdirSync(paths.stateDir, { mode: 0o700 });
  await makeTree(next, source, options);
  const tree = await hashOfTree(next, source, options);
  const caller = { project: path, context: { ...capturedContext(''), env } };
  return {
    project,
    next,
    /** What a start does before it exchanges the code. */
    takeConfig: () => takePresentConfig(next, source, options),
    isChecked: () => isChecked(caller, { name: 'r1', source, tree }),
  };
}

describe('a tree that was checked', () => {
  it('is the same one after it took the configuration of the project, which has changed since', async (t) => {
    const { project, next, takeConfig, isChecked: isKnown } = await checked(t, { hasConfig: false });
    project.write('svc.config.yml', `${project.read('svc.config.yml')}# changed since the check\n`);

    await takeConfig();

    assert.match(readFileSync(join(next, 'svc.config.yml'), 'utf8'), /changed since/);
    assert.equal(await isKnown(), true);
    writeFileSync(join(next, 'package.json'), '{}');
    assert.equal(await isKnown(), false);
  });

  it('keeps the configuration that came with it, and is another one where that was changed', async (t) => {
    const { project, next, takeConfig, isChecked: isKnown } = await checked(t, { hasConfig: true });
    project.write('svc.config.yml', `${project.read('svc.config.yml')}# changed since the check\n`);

    await takeConfig();

    assert.doesNotMatch(readFileSync(join(next, 'svc.config.yml'), 'utf8'), /changed since/);
    assert.equal(await isKnown(), true);
    writeFileSync(join(next, 'svc.config.yml'), '{}');
    assert.equal(await isKnown(), false);
  });

  it('is put on the disk file by file where no program does it at once', async (t) => {
    const { next } = await checked(t, { hasConfig: true });

    await syncCode(next, { env: { PATH: '/nonexistent' }, signal: t.signal });
  });
});
