// As what a file is sent. Pure.
import type { FileRef } from '../../sdk/index.ts';
import { failureOf } from './client.ts';
import { isPhoto } from './files.ts';

export type Kind = 'photo' | 'video' | 'voice' | 'audio' | 'document';

/** One that came from this account has an id of Telegram, which is sent in place of the bytes. */
export const isById = ({ id }: FileRef): boolean => !/^[0-9a-f]{64}$/.test(id) && !id.includes('|');

/** S5 of send.ts. By its id first, as what it seems to be; then by its bytes. */
export function waysOf(file: FileRef): readonly { readonly kind: Kind; readonly isById: boolean }[] {
  const photo: readonly Kind[] = isPhoto(file) ? ['photo'] : [];
  const came: readonly Kind[] = file.mime.startsWith('video/')
    ? ['video']
    : file.mime === 'audio/ogg'
      ? ['voice', 'audio']
      : file.mime.startsWith('audio/')
        ? ['audio']
        : [];
  const known: readonly Kind[] = isById(file) ? [...photo, ...came, 'document'] : [];
  return [
    ...known.map((kind) => ({ kind, isById: true })),
    ...[...photo, 'document' as const].map((kind) => ({ kind, isById: false })),
  ];
}

/** Too wide, too narrow, or not a picture after all; or it came as something else. */
export function isOfAnotherKind(error: unknown): boolean {
  const failure = failureOf(error);
  return failure.kind === 'refused' && /PHOTO|IMAGE|photo|type of file|of type|file identifier/.test(failure.reason);
}
