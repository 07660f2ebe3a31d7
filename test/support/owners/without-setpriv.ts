// The environment of a supervisor that finds no `setpriv`, as on systems other than Linux: the kernel does not end its worker with it.

/** Loaded before supervisor and worker. */
const PRELOAD = `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { existsSync } = fs;
fs.existsSync = (path) => path !== '/usr/bin/setpriv' && existsSync(path);
syncBuiltinESMExports();`;

export const WITHOUT_SETPRIV = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRELOAD)}` };
