// Crashes at start until the file `mended` is there.
import { existsSync } from 'node:fs';
import { comeUp, hello, obey } from '../../process/fixture-worker.ts';

if (!existsSync('mended')) process.exit(1);
hello();
obey();
comeUp();
