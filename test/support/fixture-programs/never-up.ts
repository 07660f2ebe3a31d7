// Says hello and nothing more.
import { hello, obey } from '../fixture-worker.ts';

hello();
obey();
setInterval(() => {}, 1_000);
