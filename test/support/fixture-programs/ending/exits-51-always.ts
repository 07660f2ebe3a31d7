// Asks for a restart each time that it is up.
import { comeUp, hello, leave } from '../../process/fixture-worker.ts';

hello();
comeUp();
setTimeout(() => leave(51), 30);
