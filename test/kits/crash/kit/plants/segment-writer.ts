// Events in a file that were never synced to it. With SVC_SEGMENT_BYTES segments are that short: a cut then often meets one that begins.
import { type FileHandle, open } from 'node:fs/promises';
import { SegmentWriter as Real } from '../../../../../worker/workroom/files/segment-writer.ts';
import { planted } from './planted.ts';

const isSynced = planted('workroom-file-without-sync') ? withoutSync() : Promise.resolve();

const bytes = process.env['SVC_SEGMENT_BYTES'];

export class SegmentWriter extends Real {
  constructor(...[options, tail]: ConstructorParameters<typeof Real>) {
    super(bytes === undefined ? options : { ...options, sealedBytes: Number(bytes) }, tail);
  }

  override async append(...args: Parameters<Real['append']>): ReturnType<Real['append']> {
    await isSynced;
    return super.append(...args);
  }
}

/** Nobody else in the worker syncs by a handle of promises and has to. */
async function withoutSync(): Promise<void> {
  const file = await open('/dev/null');
  const handles = Object.getPrototypeOf(file) as Pick<FileHandle, 'datasync'>;
  handles.datasync = async () => {};
  await file.close();
}
