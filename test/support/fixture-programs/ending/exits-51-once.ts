// Asks for a restart once it is up; its successor stays.
import { existsSync, writeFileSync } from 'node:fs';
import { comeUp, hello, leave, obey } from '../../process/fixture-worker.ts';

hello();
obey();
comeUp();
if (!existsSync('restarted-once')) {
  writeFileSync('restarted-once', '');
  setTimeout(() => leave(51), 30);
}
