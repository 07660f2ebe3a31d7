// Writes a line, holds up its event loop until the file `go-on` is there, writes another line, and so on.
import { existsSync } from 'node:fs';
import { createLog } from '../../../../shared/log/logger.ts';
import { comeUp, hello, obey, onMessage } from '../../process/fixture-worker.ts';

const log = createLog({ destination: '.svc/runtime.log', base: {} });
hello();
obey();
comeUp();
onMessage('reopen_logs', () => log.reopen());
setTimeout(() => {
  log.logger.info('blocked from here');
  while (!existsSync('go-on')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
  log.logger.info('blocked up to here');
  setInterval(() => log.logger.info('goes on'), 20);
}, 20);
