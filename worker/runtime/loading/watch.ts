// In development a change of the configuration, of .env or of a project's plugin is a reload, one of the lockfile a restart.
// Loaded only with --watch.
import { join } from 'node:path';
import type { Clock, Timer } from '../../../shared/time/clock.ts';

export interface WatchOptions {
  readonly project: string;
  readonly clock: Clock;
  readonly changed: (files: readonly string[]) => void;
  /** Not all of it can be watched (no more watches on this machine, a folder that cannot be read): called once, with the first reason. */
  readonly failed: (error: unknown) => void;
}

/** Changes that come together are one reload. */
const QUIET_MS = 150;

/** Resolves once it watches what it can; the answer ends it. */
export async function watchProject({ project, clock, changed, failed }: WatchOptions): Promise<() => Promise<void>> {
  const { watch } = await import('chokidar');
  const seen = new Set<string>();
  let timer: Timer | undefined;
  let hasFailed = false;
  const watched = ['svc.config.yml', '.env', 'plugins', 'package-lock.json'].map((name) => join(project, name));
  const watcher = watch(watched, {
    ignoreInitial: true,
    // A watch that ends while a file goes may lose a handle (chokidar 5.0.0): it must not keep the process.
    persistent: false,
    ignored: (path) => path.includes('node_modules') || path.endsWith('~') || path.endsWith('.tmp'),
  });
  watcher.on('all', (event, path) => {
    // What went is not looked for any more; added anew it is, by the folder it was in. Another branch takes a file away, and brings it back.
    if (event.startsWith('unlink') && watched.includes(path)) watcher.add(path);
    seen.add(path);
    timer?.cancel();
    timer = clock.after(QUIET_MS, () => {
      const files = [...seen];
      seen.clear();
      changed(files);
    });
  });
  await new Promise<void>((resolve) => {
    watcher.once('ready', () => resolve());
    // Of one cause there may be an error a file; without a listener the first would end the process.
    watcher.on('error', (error) => {
      if (!hasFailed) failed(error);
      hasFailed = true;
      resolve(); // what is not ready after it may never be
    });
  });
  return async () => {
    timer?.cancel();
    const closed = watcher.close(); // takes every listener off, and what it is still looking at may fail
    watcher.on('error', () => {});
    await closed;
  };
}
