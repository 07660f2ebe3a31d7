// The writer thread: groups of units come in, answers go out after the sync. Nothing else happens here.
import { parentPort, workerData } from 'node:worker_threads';
import { failpointsOf } from '../failpoints.ts';
import { coerceError } from '../../shared/svc-error.ts';
import { WriterCore } from './writer-core.ts';
import type { GroupAnswer } from './group-commit.ts';
import type { Unit } from './unit.ts';

export interface WriterThreadData {
  readonly file: string;
  readonly failpoints: string | undefined;
}
export type ToWriter = { readonly kind: 'open'; readonly id: number } | { readonly kind: 'group'; readonly id: number; readonly units: readonly Unit[] } | { readonly kind: 'close'; readonly id: number };
export type FromWriter =
  | { readonly kind: 'done'; readonly id: number; readonly answer: GroupAnswer | undefined }
  | { readonly kind: 'failed'; readonly id: number; readonly code: string; readonly message: string; readonly hint: string | undefined };

const data = workerData as WriterThreadData;
const point = FAILPOINTS ? failpointsOf(data.failpoints) : undefined;
const core = new WriterCore({
  file: data.file,
  now: Date.now,
  ...(FAILPOINTS ? { beforeCommit: () => void point?.('writer.sync') } : {}),
});

parentPort?.on('message', (message: ToWriter) => {
  parentPort?.postMessage(serve(message));
  if (FAILPOINTS && message.kind === 'group') void point?.('writer.committed');
});

function serve(message: ToWriter): FromWriter {
  try {
    switch (message.kind) {
      case 'open':
        core.open();
        return { kind: 'done', id: message.id, answer: undefined };
      case 'group':
        return { kind: 'done', id: message.id, answer: core.run(message.units) };
      case 'close':
        core.close();
        return { kind: 'done', id: message.id, answer: undefined };
    }
  } catch (error) {
    const { code, message: text, hint } = coerceError(error);
    return { kind: 'failed', id: message.id, code, message: text, hint };
  }
}
