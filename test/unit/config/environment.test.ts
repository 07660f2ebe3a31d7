import assert from 'node:assert/strict';
import { chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Environment, type ProjectEnvironment, projectEnvironment } from '../../../shared/config/environment.ts';
import type { Mode } from '../../../shared/config/mode.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import { type Cleanup, temporaryProject } from '../../support/temporary-project.ts';

interface Options {
  readonly text: string;
  readonly environment?: Environment;
  readonly mode?: Mode;
  readonly bits?: number;
}

function environmentOf(
  t: Cleanup,
  { text, environment = {}, mode = 'production', bits = 0o600 }: Options,
): ProjectEnvironment {
  const project = temporaryProject(t, { config: null });
  const file = join(project.path, 'variables');
  writeFileSync(file, text);
  chmodSync(file, bits);
  return projectEnvironment({ file, mode, environment });
}

describe('projectEnvironment', () => {
  it('reads the plain subset without a warning (ENV-2)', (t) => {
    const { values, warnings } = environmentOf(t, { text: '# a comment\n\nA=1\nB=x=y/z+==\nC=\n' });

    assert.deepEqual({ ...values }, { A: '1', B: 'x=y/z+==', C: '' });
    assert.deepEqual(warnings, []);
  });

  it('lets the process environment win (ENV-1)', (t) => {
    const { values, origin } = environmentOf(t, {
      text: 'A=file\nB=file\n',
      environment: { A: 'process', C: undefined },
    });

    assert.deepEqual([values['A'], values['B']], ['process', 'file']);
    assert.deepEqual(
      [origin('A'), origin('B'), origin('C'), origin('toString')],
      ['process', '.env', undefined, undefined],
    );
  });

  for (const line of [
    'A="x y"',
    "A='x'",
    'A = 1',
    'export A=1',
    'A=x # note',
    'A=$B',
    'A=`b`',
    'no assignment',
    'A=1\r',
    '1A=x',
  ]) {
    it(`warns of ${JSON.stringify(line)} with its line, without its value (ENV-2)`, (t) => {
      const { warnings } = environmentOf(t, { text: `OK=1\n${line}\n` });

      assert.deepEqual(warnings, [
        '.env:2:1 other tools may read this line differently: write NAME=value without quotes, blanks, # or $',
      ]);
    });
  }

  it('warns of a name that is set twice', (t) => {
    assert.deepEqual(environmentOf(t, { text: 'A=1\nA=2\n' }).warnings, ['.env:2:1 A is set a second time']);
  });

  it('ends a production start when others can read the file, and warns elsewhere (ENV-3)', (t) => {
    for (const bits of [0o640, 0o604, 0o620]) {
      assert.throws(
        () => environmentOf(t, { text: 'A=1\n', bits }),
        (error) => error instanceof SvcError && error.code === 'secret_invalid' && error.hint === 'chmod 600 .env',
      );
    }
    assert.deepEqual(environmentOf(t, { text: 'A=1\n', bits: 0o644, mode: 'development' }).warnings, [
      '.env:1:1 can be read by group or others; chmod 600 .env',
    ]);
  });

  it('takes a missing file for an empty one', () => {
    assert.deepEqual(
      { ...projectEnvironment({ file: '/nowhere/.env', mode: 'production', environment: { A: '1' } }).values },
      { A: '1' },
    );
  });

  it('refuses a link whose target is missing, in every mode', (t) => {
    const { paths } = temporaryProject(t, { config: null });
    rmSync(paths.env);
    symlinkSync('/run/secrets/nowhere', paths.env);

    for (const mode of ['production', 'development', 'test'] as const)
      assert.throws(
        () => projectEnvironment({ file: paths.env, mode, environment: {} }),
        /^SvcError: \.env:1:1 is a symbolic link whose target is not there: \/run\/secrets\/nowhere/,
      );
  });

  it('refuses what is no file of text', (t) => {
    const project = temporaryProject(t, { config: null });
    const file = join(project.path, 'zero');
    symlinkSync('/dev/zero', file);

    assert.throws(
      () => projectEnvironment({ file, mode: 'production', environment: {} }),
      /^SvcError: \.env:1:1 is not a regular file/,
    );
  });

  it('has no prototype to look into (ENV-4)', (t) => {
    const { values } = environmentOf(t, { text: '__proto__=x\nA=1\n' });

    assert.equal(Object.getPrototypeOf(values), null);
    assert.equal(({} as { x?: unknown }).x, undefined);
    assert.ok(Object.isFrozen(values));
  });
});
