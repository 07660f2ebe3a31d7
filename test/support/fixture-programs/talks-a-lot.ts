// Writes numbered lines to the runtime log as fast as its logger can, and follows a rotation.
import { createLog } from '../../../shared/log/logger.ts';
import { comeUp, hello, obey, onMessage } from '../process/fixture-worker.ts';

const log = createLog({ destination: '.svc/runtime.log', base: {} });
let n = 0;
onMessage('reopen_logs', () => log.reopen());
hello();
obey();
comeUp();
const talk = (): void => {
  for (let line = 0; line < 500; line += 1) log.logger.info({ n: (n += 1) }, 'x'.repeat(200));
  setImmediate(talk);
};
talk();
