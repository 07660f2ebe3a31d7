// Where a project of `svc init` gets svc from, and where it may stand.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { EXIT } from '../../../shared/process/exit-codes.ts';
import { command } from '../../../supervisor/cli/commands/init.ts';
import { commandContext } from '../../support/commands/command-context.ts';
import { emptyFolder, QUICK } from '../../support/commands/init-run.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));

describe('the package svc', () => {
  const isBuilt = existsSync(join(REPOSITORY, 'dist/cli.js'));

  it('lies packed in the project, so that the project can be moved', {
    skip: !isBuilt && 'dist/ is not built',
  }, async (t) => {
    const folder = emptyFolder(t);
    const { context, output } = commandContext({ cwd: folder, env: { PATH: process.env['PATH'], HOME: folder } });

    assert.equal(await command.run(context, ['my-bot'], { lockfile: false }), EXIT.ok);

    const project = join(folder, 'my-bot');
    const { dependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const path = /^file:(vendor\/svc-[\d.]+\.tgz)$/.exec(dependencies.svc)?.[1] ?? '';
    const names = execFileSync('tar', ['-tzf', join(project, path)], { encoding: 'utf8' });
    assert.match(names, /^package\/dist\/cli\.js$/m);
    assert.ok(output.texts.some((line) => line.endsWith(path)));
    execFileSync('git', ['init', '-q'], { cwd: project });
    assert.equal(
      execFileSync('git', ['ls-files', '-o', '--exclude-standard', path], { cwd: project, encoding: 'utf8' }).trim(),
      path,
    );
  });

  it('is not packed without npm, and nothing is written', { skip: !isBuilt && 'dist/ is not built' }, async (t) => {
    const folder = emptyFolder(t);
    const { context } = commandContext({ cwd: folder, env: { PATH: folder, HOME: folder } });

    await assert.rejects(command.run(context, ['my-bot'], { lockfile: false }), {
      code: 'refused',
      message: /^nothing was written: svc cannot be put into the project: npm could not pack it: npm is not there$/,
      hint: /--svc/,
    });
    assert.equal(existsSync(join(folder, 'my-bot')), false);
  });
});

describe('a workspace of npm', () => {
  for (const [workspaces, path, isMember] of [
    [['bots/*'], 'bots/one', true],
    [['./bots/one/'], 'bots/one', true],
    [['packages/**'], 'packages/a/b', true],
    [['{apps,bots}/*'], 'bots/one', true],
    [{ packages: ['bots/*'] }, 'bots/one', true],
    [['*', '!my-bot'], 'my-bot', false],
    [['bots/*'], 'bots/one/inner', false],
    [['bots/*'], 'other', false],
    ['bots/*', 'bots/one', false],
  ] as const)
    it(`${isMember ? 'takes no project' : 'leaves a project alone'}: ${JSON.stringify(workspaces)} and ${path}`, async (t) => {
      const folder = emptyFolder(t);
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'ws', private: true, workspaces }));
      const before = readdirSync(folder, { recursive: true });
      const { context } = commandContext({ cwd: folder, env: {} });
      const run = command.run(context, [path], QUICK);

      if (!isMember) return assert.equal(await run, EXIT.ok);
      await assert.rejects(run, {
        code: 'refused',
        message: `nothing was written: ${join(folder, path)} belongs to the npm workspace of ${folder}`,
      });
      assert.deepEqual(readdirSync(folder, { recursive: true }), before);
    });
});
