// Makes or prunes checkpoints of a stopped project as the command does: `<make|prune> <project>`; kills itself at SVC_FAILPOINTS.

import { failpointsOf } from '../../../shared/process/failpoints.ts';
import { makeStopped } from '../../../worker/recovery/checkpoint/make-stopped.ts';
import { pruneCheckpoints } from '../../../worker/recovery/checkpoint/remove-checkpoints.ts';

const [step = '', project = ''] = process.argv.slice(2);
const environment = process.env;
const RULES = { keepLast: 1, keepDays: 0, keepWeeks: 0, maxBytes: 1e12, replacedDays: 7 };
if (step === 'make') console.log((await makeStopped({ project, environment, reason: null })).manifest.name);
else {
  const point = failpointsOf(environment['SVC_FAILPOINTS']);
  await pruneCheckpoints({ project, rules: RULES, now: Date.now(), point });
}
