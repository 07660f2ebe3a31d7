// Comes up, then has nothing more to do.
import { comeUp, hello, leave } from '../../process/fixture-worker.ts';

hello();
comeUp();
setTimeout(() => leave(0), 30);
