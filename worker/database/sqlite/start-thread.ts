// Starts the threads that have a connection to a database. A start does not wait for the writer thread, which is started once the host is up. A spare
// worker starts its thread first. The writer thread touches no file before it is told to open one, and keeps no process alive.
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** The members of a thread that its users need. */
export type WriterThread = Pick<Worker, 'on' | 'ref' | 'postMessage' | 'terminate'>;

/** Node must not close descriptors when the thread ends: a close drops the POSIX locks of the whole process. */
const OPTIONS = { name: 'writer', trackUnmanagedFds: false };

export function startWriterThread(): Worker {
  const here = import.meta.url;
  const thread = startThread(
    new URL(here.endsWith('.ts') ? './writer-thread.ts' : './writer-thread.js', here),
    OPTIONS,
  );
  thread.unref();
  return thread;
}

/** From sources (tests, development) the thread needs the TypeScript loader first: hooks of this thread do not apply to it. */
export function startThread(entry: URL, options: WorkerOptions): Worker {
  if (!entry.pathname.endsWith('.ts')) return new Worker(entry, options);
  const loader = import.meta.resolve('tsx/esm/api');
  const script = `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}); });`;
  return new Worker(script, { eval: true, ...options });
}
