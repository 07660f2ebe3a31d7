// Answers on the socket that it was handed down as an owner does it; says `none` where there is none. Its owner cannot know the pid before: argument 1 `mine` puts it in.
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { inheritedSocket } from '../../../worker/process/inherited-socket.ts';

const environment = process.argv[2] === 'mine' ? { ...process.env, LISTEN_PID: String(process.pid) } : process.env;
const socket = inheritedSocket(environment);
if (socket === undefined) process.stdout.write('none\n');
else {
  const seenByChild = spawnSync(process.execPath, [
    '-e',
    `try { console.log(require('fs').fstatSync(${socket.fd}).isSocket()) } catch { console.log(false) }`,
  ]);
  createServer((_request, answer) => answer.end('over the inherited socket')).listen(socket, () =>
    process.stdout.write(`fd ${socket.fd}, a child has it: ${String(seenByChild.stdout)}`),
  );
}
