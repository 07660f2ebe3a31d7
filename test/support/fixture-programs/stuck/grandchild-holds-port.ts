// Listens on the socket that it is handed. The first one shares it with a grandchild in a session of its own, which outlives everybody.
import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { listenOnHanded, obey } from '../../process/fixture-worker.ts';

obey();
listenOnHanded((server) => {
  if (existsSync('grandchild')) return;
  const handle: unknown = Reflect.get(server, '_handle');
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)'], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', handle as 'pipe'],
  });
  writeFileSync('grandchild', String(child.pid));
  child.unref();
});
