// Listens on the socket that it is handed, and shares it with a grandchild in a session of its own, which outlives everybody.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { listenOnHanded, obey } from '../fixture-worker.ts';

obey();
listenOnHanded((server) => {
  const handle: unknown = Reflect.get(server, '_handle');
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)'], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', handle as 'pipe'],
  });
  writeFileSync('grandchild', String(child.pid));
  child.unref();
});
