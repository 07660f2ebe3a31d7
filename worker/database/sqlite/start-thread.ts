// Starts the writer thread: once the host is up, which does not wait for it (early-writer.ts); first thing in a spare, which has the time.
// Until it is told a file it touches nothing, and it keeps no process alive.
import { Worker } from 'node:worker_threads';

/** What whoever writes through the thread needs of it. */
export type WriterThread = Pick<Worker, 'on' | 'ref' | 'postMessage' | 'terminate'>;

/** What it keeps open (checkpoint.ts) stays open when it ends: to close it would drop the locks of the whole process. */
const OPTIONS = { name: 'writer', trackUnmanagedFds: false };

export function startWriterThread(): Worker {
  const here = import.meta.url;
  const thread = here.endsWith('.ts')
    ? fromSource(new URL('./writer-thread.ts', here))
    : new Worker(new URL('./writer-thread.js', here), OPTIONS);
  thread.unref();
  return thread;
}

/** From sources (tests, development) the thread needs the TypeScript loader first: hooks of this thread are not its own. */
function fromSource(entry: URL): Worker {
  const loader = import.meta.resolve('tsx/esm/api');
  const script = `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}); });`;
  return new Worker(script, { eval: true, ...OPTIONS });
}
