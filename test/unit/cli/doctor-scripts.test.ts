// What `svc doctor` advises where package.json has not the scripts that an owner runs.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { projectPaths } from '../../../shared/files/paths.ts';
import { PROJECT_CHECKS } from '../../../supervisor/cli/doctor/project-checks.ts';

const START = 'npm pkg set scripts.start="exec svc runtime start --mode production --no-watch"';
const BUILD = 'npm pkg set scripts.build="tsc -p ."';

describe('the scripts of package.json', () => {
  for (const [scripts, fix] of [
    [{ start: 'exec svc runtime start' }, BUILD],
    [{ build: 'tsc -p .' }, START],
    [{}, `${BUILD} && ${START}`],
  ] as const)
    it(`are added where they are missing, and no other one is changed: ${JSON.stringify(scripts)}`, async () => {
      const check = PROJECT_CHECKS.find(({ id }) => id === 'package.scripts');
      const subject = {
        paths: projectPaths('/nowhere'),
        manifest: { scripts },
        env: {},
        config: { fault: '' },
        node: '24.0.0',
      };

      assert.equal((await check?.run(subject))?.fix, fix);
    });
});
