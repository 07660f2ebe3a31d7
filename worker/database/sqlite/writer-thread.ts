// The writer thread: groups of units come in, answers go out after the sync. Besides, since it waits most of the time, it looks after
// the event loop of the main thread (watchdog/).
import { parentPort } from 'node:worker_threads';
import { coerceError } from '../../../shared/svc-error.ts';
import type { GuardOrder } from '../../watchdog/loop-guard.ts';
import { type ParentOrder, watchParent } from '../../watchdog/parent-watch.ts';
import { OpenCore, type OpenWriter } from './open-core.ts';
import { GroupUnpacker, type PackedAnswer, type PackedGroup, packAnswer } from './packed-group.ts';
import type { AbortOrder } from './wal/end-at-once.ts';

export type ToWriter =
  | { readonly kind: 'hello'; readonly id: number }
  | ({ readonly kind: 'open'; readonly id: number } & OpenWriter)
  | { readonly kind: 'group'; readonly id: number; readonly group: PackedGroup }
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
let core: OpenCore | undefined;

parentPort?.on('message', (message: ToWriter | GuardOrder | ParentOrder) => {
  if (message.kind === 'watch_parent') return watchParent(message);
  if (message.kind === 'guard') {
    // Without it there is no report; the writer goes on.
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
        core ??= new OpenCore(message); // again after a failure it is the same: it remembers which file it was
        core.open();
        return { kind: 'done', id: message.id, answer: undefined };
      case 'group':
        return { kind: 'done', id: message.id, answer: packAnswer(required().run(unpacker.unpack(message.group))) };
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

/** After a close the thread is as it was at first: it may be told another file. */
function forget(): void {
  core = undefined;
  unpacker = new GroupUnpacker();
}

function required(): OpenCore {
  if (core === undefined) throw new Error('the writer was not opened');
  return core;
}
