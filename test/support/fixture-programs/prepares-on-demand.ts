// A worker without a fault; as a spare it makes itself ready when the file `prepared` is there.
import { existsSync, writeFileSync } from 'node:fs';
import { comeUp, hello, obey, onMessage, tell } from '../process/fixture-worker.ts';

hello(['prepare', 'prepared']);
obey();
onMessage('welcome', comeUp);
onMessage('prepare', () => {
  writeFileSync('preparing', '');
  const look = setInterval(() => {
    if (!existsSync('prepared')) return;
    clearInterval(look);
    tell({ type: 'prepared' });
  }, 10);
});
