// Ids of incoming files, and the fields they encode. Pure. An id alone suffices to request the bytes, even after a restart.
// The id contains the kind, the platform's file id, the URL if known, and the group.

import type { FileRef } from '../../../sdk/index.ts';
import { type Json, textAt } from '../../../sdk/platform/foreign-json.ts';
import { numberAt } from './json.ts';

export type FileKind = 'image' | 'record' | 'video' | 'file';

export interface FileName {
  readonly kind: FileKind;
  /** The platform's id of the file. */
  readonly file: string;
  readonly url: string | undefined;
  readonly group: string | undefined;
}

const FALLBACK: Readonly<Record<FileKind, readonly [name: string, mime: string]>> = {
  image: ['image.jpg', 'image/jpeg'],
  record: ['voice.amr', 'audio/amr'],
  video: ['video.mp4', 'video/mp4'],
  file: ['file', 'application/octet-stream'],
};
const TYPES: Readonly<Record<string, string>> = {
  amr: 'audio/amr',
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  silk: 'audio/silk',
  txt: 'text/plain',
  wav: 'audio/wav',
  webp: 'image/webp',
};

export const isFileKind = (type: string): type is FileKind => Object.hasOwn(FALLBACK, type);

export function fileOf(kind: FileKind, data: Json, group: string | undefined): FileRef {
  const file = textAt(data, 'file_id') ?? textAt(data, 'file') ?? '';
  const url = [textAt(data, 'url'), textAt(data, 'file')].find((one) => isAddress(one));
  const [fallback, mime] = FALLBACK[kind];
  const shown = textAt(data, 'name') ?? textAt(data, 'file_name') ?? textAt(data, 'file');
  const name = shown === undefined || isAddress(shown) || shown.length > 200 ? fallback : nameOf(shown, fallback);
  const type = TYPES[/\.(\w{1,8})$/.exec(name)?.[1]?.toLowerCase() ?? ''];
  return {
    id: fileId({ kind, file: isAddress(file) ? '' : file, url, group }),
    name,
    mime: type ?? mime,
    bytes: numberAt(data, 'file_size') ?? 0,
  };
}

/** Undefined if the id has another form. */
export function readFileId(id: string): FileName | undefined {
  const mark = id.indexOf('?');
  const kind = id.slice(0, mark);
  if (mark === -1 || !isFileKind(kind)) return undefined;
  const values = new URLSearchParams(id.slice(mark + 1));
  return {
    kind,
    file: values.get('file') ?? '',
    url: values.get('url') ?? undefined,
    group: values.get('group') ?? undefined,
  };
}

const isAddress = (text: string | undefined): boolean => text !== undefined && /^https?:\/\//i.test(text);
/** The last segment only. A folder on the implementation's machine has no meaning here. */
const nameOf = (text: string, fallback: string): string => /[^/\\]+$/.exec(text)?.[0] ?? fallback;

function fileId({ kind, file, url, group }: FileName): string {
  const values = new URLSearchParams({
    file,
    ...(url === undefined ? {} : { url }),
    ...(group === undefined ? {} : { group }),
  });
  return `${kind}?${values.toString()}`;
}
