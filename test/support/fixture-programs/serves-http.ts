// Answers HTTP on the socket that it is handed. Where a file of that name comes into the project it ends with the code `75` or `1`, or is `silent`.
import { existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { SupervisorMessage } from '../../../shared/api/ipc.ts';
import { comeUp, hello, leave, obey } from '../process/fixture-worker.ts';

const server = createServer((_, response) => void response.end('hello'));

const isAsked = (what: string): boolean => {
  if (!existsSync(what)) return false;
  rmSync(what);
  return true;
};

hello(['listen']);
obey();
process.on('message', (message: SupervisorMessage, socket: object | undefined) => {
  if (message.type === 'welcome') server.listen(socket, comeUp);
});
setInterval(() => {
  if (isAsked('75')) server.close(() => leave(75)); // what it has accepted is answered first
  if (isAsked('1')) process.exit(1);
  if (isAsked('silent')) for (;;) Math.sqrt(2);
}, 10);
