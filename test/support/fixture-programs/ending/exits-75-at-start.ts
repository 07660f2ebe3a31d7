// Asks for a restart before it was ever up.
import { hello } from '../../process/fixture-worker.ts';

hello();
setTimeout(() => process.exit(75), 10);
