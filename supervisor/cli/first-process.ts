// The first process of a container, from its first statement on: the kernel keeps a signal from a first process that has no handler for it, so a
// stop that comes before the worker listens would be lost. Imported before everything else.
import { constants } from 'node:os';
import { EXIT } from '../../shared/exit-codes.ts';

if (process.pid === 1) {
  const exit = process.exit.bind(process);
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      if (process.listenerCount(signal) > 0) return; // the worker listens by now
      // Nothing has been started: for a runtime that is the stop that was asked for.
      exit(process.argv.includes('start') ? EXIT.ok : 128 + constants.signals[signal]);
    });
}
