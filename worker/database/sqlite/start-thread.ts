// Starts the writer thread. A start does not wait for the thread, which is started once the host is up. A spare worker starts its thread first. The
// thread touches no file before it is told to open one, and keeps no process alive.
import { Worker } from 'node:worker_threads';

/** The members of a thread that its users need. */
export type WriterThread = Pick<Worker, 'on' | 'ref' | 'postMessage' | 'terminate'>;

/** Node must not close descriptors when the thread ends: a close drops the POSIX locks of the whole process. */
const OPTIONS = { name: 'writer', trackUnmanagedFds: false };

export function startWriterThread(): Worker {
  const here = import.meta.url;
  const thread = here.endsWith('.ts')
    ? fromSource(new URL('./writer-thread.ts', here))
    : new Worker(new URL('./writer-thread.js', here), OPTIONS);
  thread.unref();
  return thread;
}

/** From sources (tests, development) the thread needs the TypeScript loader first: hooks of this thread do not apply to it. */
function fromSource(entry: URL): Worker {
  const loader = import.meta.resolve('tsx/esm/api');
  const script = `import(${JSON.stringify(loader)}).then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}); });`;
  return new Worker(script, { eval: true, ...OPTIONS });
}
