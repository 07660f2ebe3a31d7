// Once the log was rotated, says last words as Node itself does, past its logger, and aborts.
import { writeSync } from 'node:fs';
import { createLog } from '../../../../shared/log/logger.ts';
import { comeUp, hello, obey, onMessage } from '../../process/fixture-worker.ts';

const log = createLog({ destination: '.svc/runtime.log', base: {} });
hello();
obey();
comeUp();
onMessage('reopen_logs', () => {
  log.reopen();
  log.logger.info('after the rotation');
  writeSync(2, 'FATAL ERROR: planted last words\nwith a second line\n');
  process.kill(process.pid, 'SIGABRT');
});
for (let n = 0; n < 500; n += 1) log.logger.info({ n }, 'x'.repeat(200));
