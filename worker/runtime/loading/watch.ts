// Watches files in development. A changed configuration, .env or plugin of the project causes a reload, a changed lockfile a restart.
// Loaded only with --watch.
import { join } from 'node:path';
import type { Clock, Timer } from '../../../shared/time/clock.ts';

export interface WatchOptions {
  readonly project: string;
  readonly clock: Clock;
  readonly changed: (files: readonly string[]) => void;
  /** Called once, with the first reason, if some files cannot be watched (no more watches, an unreadable folder). */
  readonly failed: (error: unknown) => void;
}

/** Changes within this time are one reload. */
const QUIET_MS = 150;

/** Resolves once watching, with the function that ends it. */
export async function watchProject({ project, clock, changed, failed }: WatchOptions): Promise<() => Promise<void>> {
  const { watch } = await import('chokidar');
  const seen = new Set<string>();
  let timer: Timer | undefined;
  let hasFailed = false;
  const watched = ['svc.config.yml', '.env', 'plugins', 'package-lock.json'].map((name) => join(project, name));
  const watcher = watch(watched, {
    ignoreInitial: true,
    // chokidar 5.0.0 may leak a handle when a file vanishes while a watch ends. The handle must not keep the process alive.
    persistent: false,
    ignored: (path) => path.includes('node_modules') || path.endsWith('~') || path.endsWith('.tmp'),
  });
  watcher.on('all', (event, path) => {
    // A deleted file is no longer watched, so it is added again. Switching git branches deletes and restores files.
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
    // One cause may emit an error per file. Without a listener, the first would end the process.
    watcher.on('error', (error) => {
      if (!hasFailed) failed(error);
      hasFailed = true;
      resolve(); // `ready` may never follow an error
    });
  });
  return async () => {
    timer?.cancel();
    const closed = watcher.close(); // removes all listeners, while pending watches may still emit errors
    watcher.on('error', () => {});
    await closed;
  };
}
