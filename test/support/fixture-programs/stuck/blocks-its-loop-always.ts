// Comes up, then never gives its event loop back: it would end when it is told to, and never hears of it. The file `blocked` says when.
import { writeFileSync } from 'node:fs';
import { comeUp, hello, obey } from '../../process/fixture-worker.ts';

hello();
obey();
comeUp();
setTimeout(() => {
  writeFileSync('blocked', '');
  for (;;) Math.sqrt(2);
}, 50);
