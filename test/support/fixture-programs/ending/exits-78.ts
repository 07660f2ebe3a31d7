// Says that its configuration is wrong.
import { hello, tell } from '../../process/fixture-worker.ts';

hello();
tell({ type: 'failure', message: 'svc.config.yml:7:3 http.port must be an integer' });
setTimeout(() => process.exit(78), 10);
