// Warms up a spare worker. The spare loads all code of a start and rehearses starts over an empty project, so that code is compiled. The
// project lies in a temporary folder, and the rehearsal listens on no port. The real project is not touched, and nothing is kept.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Worker } from 'node:worker_threads';
import { loadConfig } from '../../shared/config/load.ts';
import { projectPaths } from '../../shared/files/paths.ts';
import { ensureStateFolder } from '../../shared/files/state-folder.ts';
import { newRuntimeId } from '../../shared/identifiers.ts';
import type { WriterThread } from '../database/sqlite/start-thread.ts';
import type { App, AppOptions } from '../host/app-options.ts';
import { BUILT_INS } from '../runtime/loading/built-ins.ts';
import { openWorkerLog } from './worker-log.ts';

export type MakeApp = (options: AppOptions) => App;

const CONFIG = `host: { name: rehearsal }
http: { port: 0, token: "\${REHEARSAL_TOKEN}" }
plugins: { sandbox: {}, echo: {}, help: {}, ping: {}, remind: {} }
`;
const STOP_MS = 2_000;
const PATHS = ['/pub/health', '/pub/ready', '/api/system/status', '/api/system/readiness'];

/** The first start creates the state; the next ones open it, as the real start will. */
const REHEARSALS = 3;

/** Never rejects. Code that could not be rehearsed runs cold at the real start. */
export async function preload(makeApp: MakeApp, thread: Worker): Promise<void> {
  await Promise.all(Object.values(BUILT_INS).map((load) => load()));
  const project = makeFolder();
  try {
    if (project !== undefined) for (let n = 0; n < REHEARSALS; n += 1) await rehearse(makeApp, project, thread);
  } catch {
    // a full disk or a failing plugin must not prevent the spare from waiting
  }
  if (project !== undefined) rmSync(project, { recursive: true, force: true });
  collectGarbage();
}

function makeFolder(): string | undefined {
  try {
    return mkdtempSync(join(tmpdir(), 'svc-rehearsal-'));
  } catch {
    return undefined;
  }
}

async function rehearse(makeApp: MakeApp, project: string, thread: Worker): Promise<void> {
  const token = randomBytes(32).toString('hex');
  const paths = projectPaths(project);
  const environment = { REHEARSAL_TOKEN: token, SVC_ANY_PORT: '1' };
  writeFileSync(paths.config, CONFIG, { mode: 0o600 });
  writeFileSync(paths.packageJson, '{"name":"rehearsal","version":"0.0.0"}', { mode: 0o600 });
  ensureStateFolder(paths.stateDir);
  const runtimeId = newRuntimeId();
  const log = openWorkerLog(paths, { supervised: true, terminal: false, runtimeId });
  const socket = join(paths.stateDir, 'rehearsal.sock');
  const app = makeApp({
    loaded: loadConfig({ project, mode: 'production', environment }),
    runtimeId,
    log,
    project,
    mode: 'production',
    watch: false,
    owner: 'foreground',
    previous: { end: 'first', code: null, signal: null, detail: null },
    environment,
    listenHandle: { path: socket },
    writerThread: lend(thread),
    requestExit: () => {},
  });
  await app.up;
  for (const path of PATHS) await ask(socket, { path, token });
  await app.stop(STOP_MS);
  log.flush();
}

/** Lends the thread to one rehearsal, which closes its file at the end and must not end the thread. */
function lend(thread: Worker): WriterThread {
  const giveBack: (() => void)[] = [];
  const on = (event: string, listener: () => void): Worker => {
    giveBack.push(() => thread.off(event, listener));
    return thread.on(event, listener);
  };
  return {
    on: on as Worker['on'],
    ref: () => thread.ref(),
    postMessage: (message) => thread.postMessage(message),
    async terminate() {
      for (const undo of giveBack) undo();
      return 0;
    },
  };
}

function ask(socketPath: string, { path, token }: { readonly path: string; readonly token: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { host: '127.0.0.1', authorization: `Bearer ${token}` };
    const call = request({ socketPath, path, headers, agent: false }, (response) => {
      response.resume().on('close', resolve);
    });
    call.on('error', reject);
    call.end();
  });
}

/** Otherwise the garbage of the rehearsals would be collected during the real start. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('gc');
  // Node below 24 rejects the compile cache of a process with other V8 options
  setFlagsFromString('--no-expose-gc');
  if (typeof gc === 'function') gc();
}
