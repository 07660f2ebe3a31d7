// Comes up, then never gives its event loop back.
import { comeUp, hello } from '../fixture-worker.ts';

hello();
comeUp();
setTimeout(() => {
  for (;;) Math.sqrt(2);
}, 50);
