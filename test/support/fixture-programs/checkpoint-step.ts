// Makes, prunes, exports or imports checkpoints of a stopped project as the commands do: `<make|prune|export|import> <project>`; kills itself at
// SVC_FAILPOINTS. The archive is `c1.tar.gz` in the project.
import { join } from 'node:path';
import { failpointsOf } from '../../../shared/process/failpoints.ts';
import { exportCheckpoint } from '../../../worker/recovery/archive/export.ts';
import { importCheckpoint } from '../../../worker/recovery/archive/import.ts';
import { makeStopped } from '../../../worker/recovery/checkpoint/make-stopped.ts';
import { pruneCheckpoints } from '../../../worker/recovery/checkpoint/remove-checkpoints.ts';

const [step = '', project = ''] = process.argv.slice(2);
const environment = process.env;
const RULES = { keepLast: 1, keepDays: 0, keepWeeks: 0, maxBytes: 1e12, replacedDays: 7 };
const file = join(project, 'c1.tar.gz');
switch (step) {
  case 'make':
    console.log((await makeStopped({ project, environment, reason: null })).manifest.name);
    break;
  case 'export':
    console.log((await exportCheckpoint({ project, environment, name: 'c1', to: file })).manifest);
    break;
  case 'import':
    console.log((await importCheckpoint({ project, environment, file })).name);
    break;
  default: {
    const point = failpointsOf(environment['SVC_FAILPOINTS']);
    await pruneCheckpoints({ project, rules: RULES, now: Date.now(), point });
  }
}
