// Writes as many numbered lines as the file `talk` says, each time that there is one; the rest as any worker.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createLog } from '../../../shared/log/logger.ts';
import { comeUp, hello, onMessage, tell } from '../process/fixture-worker.ts';

const log = createLog({ destination: '.svc/runtime.log', base: { run: process.pid } });
let n = 0;
hello();
onMessage('reopen_logs', () => log.reopen());
onMessage('stop', ({ purpose }) => {
  const lost = log.flush();
  if (lost !== undefined) tell({ type: 'log_lost', ...lost });
  tell({ type: 'stopping', code: purpose === 'restart' ? 51 : 0, reason: 'fixture' });
  setImmediate(() => process.exit(purpose === 'restart' ? 51 : 0));
});
comeUp();
setInterval(() => {
  if (!existsSync('talk')) return;
  const lines = Number(readFileSync('talk', 'utf8'));
  if (lines === 0) return;
  rmSync('talk');
  for (let line = 0; line < lines; line += 1) log.logger.info({ n: (n += 1) }, 'x'.repeat(200));
}, 10);
