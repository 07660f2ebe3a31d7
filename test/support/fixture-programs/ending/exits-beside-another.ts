// Finds the project held by a worker of another owner that came between: says who that is, and ends.
import { writeFileSync } from 'node:fs';
import { identify } from '../../../../shared/process/process-identity.ts';

writeFileSync('.svc/worker.json', JSON.stringify({ ...identify(process.ppid), owner: 'foreground' }));
process.stderr.write('one start\n');
process.exit(1);
