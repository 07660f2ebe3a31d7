// Chooses the kind (photo, video, document, …) as which a file is sent. Pure.
import type { FileRef } from '../../sdk/index.ts';
import { failureOf } from './client.ts';
import { isPhoto } from './files.ts';

export type Kind = 'photo' | 'video' | 'voice' | 'audio' | 'document';

/** Whether the id is Telegram's. Such a file was received by this account and is sent by its id without the bytes. */
export const isById = ({ id }: FileRef): boolean => !/^[0-9a-f]{64}$/.test(id) && !id.includes('|');

/** Kinds to try in order: by its id as the kind it was received as, then by its bytes. Telegram refuses an id under another kind. */
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

/** Whether Telegram refused the kind: wrong dimensions, not a picture, or an id of another kind. */
export function isOfAnotherKind(error: unknown): boolean {
  const failure = failureOf(error);
  return failure.kind === 'refused' && /PHOTO|IMAGE|photo|type of file|of type|file identifier/.test(failure.reason);
}
