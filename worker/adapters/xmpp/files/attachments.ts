// Files of a message, given as an address (XEP-0066) or with metadata (XEP-0447). Pure.
import type { XmlElement } from '@xmpp/client';
import type { FileRef } from '../../../sdk/index.ts';
import { NS } from '../stanza.ts';

const MOST_FILES = 10;
const TYPES: Readonly<Record<string, string>> = {
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  m4a: 'audio/mp4',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  webm: 'video/webm',
  webp: 'image/webp',
  zip: 'application/zip',
};

/** Each http or https address once. Sizes are the sender's claim, 0 if unknown. */
export function filesOf(stanza: XmlElement): readonly FileRef[] {
  const files = new Map<string, FileRef>();
  const add = (address: string | null | undefined, more: Partial<FileRef> = {}): void => {
    const id = address?.trim() ?? '';
    if (id.length > 2_000 || files.has(id) || files.size >= MOST_FILES) return;
    const file = fileAt(id, more);
    if (file !== undefined) files.set(id, file);
  };
  for (const sharing of stanza.getChildren('file-sharing', NS.sfs)) {
    const file = sharing.getChild('file', NS.fileMetadata);
    const size = Number(file?.getChildText('size') ?? 0);
    const name = cleanName(file?.getChildText('name') ?? '');
    const mime = file?.getChildText('media-type') ?? '';
    for (const data of sharing.getChild('sources')?.getChildren('url-data', NS.urlData) ?? [])
      add(data.attrs['target'], {
        ...(name === '' ? {} : { name }),
        ...(/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mime) ? { mime } : {}),
        ...(Number.isSafeInteger(size) && size > 0 ? { bytes: size } : {}),
      });
  }
  for (const oob of stanza.getChildren('x', NS.oob)) add(oob.getChildText('url'));
  return [...files.values()];
}

function fileAt(address: string, more: Partial<FileRef>): FileRef | undefined {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) return undefined;
  const { pathname } = new URL(address);
  const last = pathname.split('/').at(-1) ?? '';
  const name = cleanName(decoded(last)) || 'file';
  const mime = TYPES[/\.(\w{1,8})$/.exec(name)?.[1]?.toLowerCase() ?? ''] ?? 'application/octet-stream';
  return { id: address, name, mime, bytes: 0, ...more };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const cleanName = (name: string): string => name.replace(/[\p{Cc}/\\]/gu, '').slice(0, 200);
