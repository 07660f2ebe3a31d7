// Restores or finishes a restore of a stopped project as the command does: `<restore|finish> <project>`; kills itself at SVC_FAILPOINTS.
import { finishPending, readRestorePlan, restore } from '../../../worker/recovery/restore/restore.ts';

const [step = '', project = ''] = process.argv.slice(2);
const request = { project, environment: process.env, name: 'c1', carry: true, open: undefined };
if (step === 'restore') console.log((await restore({ ...request, digest: readRestorePlan(request).digest })).replaced);
else console.log(finishPending(project)?.purpose);
