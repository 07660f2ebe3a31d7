// Writes numbered lines to the runtime log for as long as it lives, and follows a rotation.
import { closeSync, openSync, writeSync } from 'node:fs';
import { comeUp, hello, obey, onMessage } from '../fixture-worker.ts';

const PATH = '.svc/runtime.log';
let descriptor = openSync(PATH, 'a');
let n = 0;
onMessage('reopen_logs', () => {
  closeSync(descriptor);
  descriptor = openSync(PATH, 'a');
});
hello();
obey();
comeUp();
setInterval(() => {
  for (let line = 0; line < 100; line += 1)
    writeSync(descriptor, `${JSON.stringify({ level: 'info', n: (n += 1), msg: 'x'.repeat(200) })}\n`);
}, 5);
