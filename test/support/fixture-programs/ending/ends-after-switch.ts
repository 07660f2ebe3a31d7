// Says at each start that it has finished a switch, and ends for a restart.
import { hello, tell } from '../../process/fixture-worker.ts';

hello();
tell({ type: 'stopping', code: 75, reason: 'fixture', switched: true });
setTimeout(() => process.exit(75), 10);
