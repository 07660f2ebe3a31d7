// Comes up, then never gives its event loop back; its successor is healthy.
import { existsSync, writeFileSync } from 'node:fs';
import { comeUp, hello, obey } from '../../process/fixture-worker.ts';

hello();
obey();
comeUp();
if (!existsSync('blocked-once')) {
  writeFileSync('blocked-once', '');
  setTimeout(() => {
    for (;;) Math.sqrt(2);
  }, 50);
}
