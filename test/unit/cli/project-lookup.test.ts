// Which folder a command takes for its project.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { loadConfig } from '../../../shared/config/load.ts';
import { findProject } from '../../../supervisor/cli/project-lookup.ts';
import { temporaryProject } from '../../support/temporary-project.ts';

describe('findProject', () => {
  it('takes no folder further up where svc.config.yml is a link to nowhere: that is told, not passed over', (t) => {
    const { path } = temporaryProject(t);
    const below = join(path, 'below');
    mkdirSync(below);
    symlinkSync('nowhere', join(below, 'svc.config.yml'));

    assert.equal(
      findProject(() => below, undefined),
      below,
    );
    assert.equal(
      findProject(() => '/', below),
      below,
    );
  });

  it('refuses a folder without one, and what is no folder', (t) => {
    const { path } = temporaryProject(t, { config: null });

    assert.throws(() => findProject(() => '/', path), { code: 'no_project' });
    assert.throws(() => findProject(() => '/', join(path, 'package.json')), { code: 'no_project' });
  });

  it('takes a folder whose exchange of code was cut before its svc.config.yml came', (t) => {
    const { path, paths, write } = temporaryProject(t, { config: null });
    write('.svc/switch.json', '{}');

    assert.equal(
      findProject(() => join(path, '.svc'), undefined),
      path,
    );
    assert.equal(
      findProject(() => '/', path),
      path,
    );
    assert.ok(existsSync(paths.pendingSwitch));
    assert.throws(() => loadConfig({ project: path, mode: 'development', environment: {} }), {
      code: 'switch_pending',
      hint: /svc checkpoint restore --finish/,
    });
  });

  it('needs no working folder for one that is named whole', (t) => {
    const { path } = temporaryProject(t);
    const gone = (): string => assert.fail('the working folder was asked for');

    assert.equal(findProject(gone, path), path);
  });
});
