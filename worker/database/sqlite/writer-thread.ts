// The writer thread: receives groups of units and answers after the sync. The thread is idle most of the time, so it also watches the event loop of
// the main thread.
import { parentPort } from 'node:worker_threads';
import { coerceError } from '../../../shared/svc-error.ts';
import type { GuardOrder } from '../../watchdog/loop-guard.ts';
import { type ParentOrder, watchParent } from '../../watchdog/parent-watch.ts';
import { GroupUnpacker, type PackedAnswer, type PackedGroup, packAnswer } from './packed-group.ts';
import type { AbortOrder } from './wal/end-at-once.ts';
import { WriterCore, type WriterTarget } from './writer-core.ts';

export type ToWriter =
  | { readonly kind: 'hello'; readonly id: number }
  | ({ readonly kind: 'open'; readonly id: number } & WriterTarget)
  | { readonly kind: 'group'; readonly id: number; readonly group: PackedGroup }
  | { readonly kind: 'pin'; readonly id: number; readonly maxBytes: number | undefined }
  | { readonly kind: 'close'; readonly id: number };
export type FromWriter =
  | AbortOrder
  | { readonly kind: 'done'; readonly id: number; readonly answer: PackedAnswer | undefined }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly code: string;
      readonly message: string;
      readonly hint: string | undefined;
    };

let unpacker = new GroupUnpacker();
let core: WriterCore | undefined;

parentPort?.on('message', (message: ToWriter | GuardOrder | ParentOrder) => {
  if (message.kind === 'watch_parent') return watchParent(message);
  if (message.kind === 'guard') {
    // Without the watch there is no report of a blocked loop; the writer goes on.
    import('../../watchdog/blocked-loop.ts').then(({ watchLoop }) => watchLoop(message)).catch(() => {});
    return;
  }
  parentPort?.postMessage(serve(message));
  if (message.kind === 'group') core?.answered();
});

function serve(message: ToWriter): Exclude<FromWriter, AbortOrder> {
  try {
    switch (message.kind) {
      case 'hello':
        return { kind: 'done', id: message.id, answer: undefined };
      case 'open':
        core ??= new WriterCore(message);
        core.open();
        return { kind: 'done', id: message.id, answer: undefined };
      case 'group':
        return { kind: 'done', id: message.id, answer: packAnswer(required().run(unpacker.unpack(message.group))) };
      case 'pin':
        required().pin(message.maxBytes);
        return { kind: 'done', id: message.id, answer: undefined };
      case 'close':
        core?.close();
        forget();
        return { kind: 'done', id: message.id, answer: undefined };
    }
  } catch (error) {
    const { code, message: text, hint } = coerceError(error);
    return { kind: 'failed', id: message.id, code, message: text, hint };
  }
}

/** After a close the thread may be given another file. */
function forget(): void {
  core = undefined;
  unpacker = new GroupUnpacker();
}

function required(): WriterCore {
  if (core === undefined) throw new Error('the writer was not opened');
  return core;
}
