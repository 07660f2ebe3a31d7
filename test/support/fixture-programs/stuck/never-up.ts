// Says hello and nothing more.
import { hello, obey } from '../../process/fixture-worker.ts';

hello();
obey();
setInterval(() => {}, 1_000);
