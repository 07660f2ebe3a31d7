// A worker without a fault: up at once, ends when asked.
import { comeUp, hello, obey, onMessage } from '../process/fixture-worker.ts';

hello();
obey();
onMessage('welcome', ({ environment, previous }) => {
  process.stdout.write(`welcome ${JSON.stringify({ secrets: Object.keys(environment), previous: previous.end })}\n`);
  comeUp();
});
