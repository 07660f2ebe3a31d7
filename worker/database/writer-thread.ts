// The writer thread: groups of units come in, answers go out after the sync. Besides, since it waits most of the time, it looks after
// the event loop of the main thread (watchdog/).
import { parentPort } from 'node:worker_threads';
import { coerceError } from '../../shared/svc-error.ts';
import { type Failpoint, failpointsOf } from '../failpoints.ts';
import type { GuardOrder } from '../watchdog/loop-guard.ts';
import { type ParentOrder, watchParent } from '../watchdog/parent-watch.ts';
import { GroupUnpacker, type PackedAnswer, type PackedGroup, packAnswer } from './packed-group.ts';
import { WriterCore } from './writer-core.ts';

/** The file to write, and what the crash kit asks for. */
export interface OpenWriter {
  readonly file: string;
  readonly failpoints: string | undefined;
}
export type ToWriter =
  | ({ readonly kind: 'open'; readonly id: number } & OpenWriter)
  | { readonly kind: 'group'; readonly id: number; readonly group: PackedGroup }
  | { readonly kind: 'close'; readonly id: number };
export type FromWriter =
  | { readonly kind: 'done'; readonly id: number; readonly answer: PackedAnswer | undefined }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly code: string;
      readonly message: string;
      readonly hint: string | undefined;
    };

const OLD_NUMBER = `DELETE FROM event_log WHERE seq > (SELECT value FROM counters WHERE name = 'event') - 40;
  UPDATE counters SET value = max(value - 40, 0) WHERE name = 'event'`;

let unpacker = new GroupUnpacker();
let core: WriterCore | undefined;
let point: Failpoint | undefined;

parentPort?.on('message', (message: ToWriter | GuardOrder | ParentOrder) => {
  if (message.kind === 'watch_parent') return watchParent(message);
  if (message.kind === 'guard') {
    // Without it there is no report; the writer goes on.
    import('../watchdog/blocked-loop.ts').then(({ watchLoop }) => watchLoop(message)).catch(() => {});
    return;
  }
  parentPort?.postMessage(serve(message));
  if (FAILPOINTS && message.kind === 'group') void point?.('writer.committed');
});

function serve(message: ToWriter): FromWriter {
  try {
    switch (message.kind) {
      case 'open':
        opened(message).open();
        if (FAILPOINTS) plantFaults(required());
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
  point = undefined;
  unpacker = new GroupUnpacker();
}

/** Opened again after a failure it is the same core: it remembers which file it was. */
function opened({ file, failpoints }: OpenWriter): WriterCore {
  if (FAILPOINTS) point ??= failpointsOf(failpoints);
  core ??= new WriterCore({
    file,
    now: Date.now,
    ...(FAILPOINTS ? { beforeCommit: () => void point?.('writer.sync') } : {}),
  });
  return core;
}

/** Faults that prove the oracle of the crash kit. */
function plantFaults(writer: WriterCore): void {
  if (FAILPOINTS && point?.('plant.commit-without-sync') === 'on') writer.open().pragma('synchronous = OFF');
  // A counter that lives in memory and is stored now and then: a restart goes on from an old number.
  if (FAILPOINTS && point?.('plant.seq-from-memory') === 'on') writer.open().exec(OLD_NUMBER);
}

function required(): WriterCore {
  if (core === undefined) throw new Error('the writer was not opened');
  return core;
}
