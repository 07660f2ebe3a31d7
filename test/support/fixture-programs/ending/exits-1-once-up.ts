// Dies as soon as it is up, each time.
import { comeUp, hello } from '../../process/fixture-worker.ts';

hello();
comeUp();
setTimeout(() => process.exit(1), 30);
