// Files of a message, and the download of their bytes.
import type { Message } from 'grammy/types';
import type { FileRef, Link } from '../../sdk/index.ts';
import { fileBody } from '../../sdk/platform/file-body.ts';
import { limitedSignal } from '../../sdk/platform/limited-signal.ts';
import { clientOf, thrown } from './client.ts';
import type { Account } from './config.ts';

/** Telegram's limits for a bot's upload: any file, and a photo. */
export const MOST_SENT_BYTES = 50_000_000;
export const MOST_PHOTO_BYTES = 10_000_000;
export const isPhoto = ({ mime, bytes }: FileRef): boolean =>
  ['image/jpeg', 'image/png'].includes(mime) && bytes <= MOST_PHOTO_BYTES;

const TIME_LIMIT_MS = 60_000;

interface Given {
  readonly file_id: string;
  readonly file_name?: string;
  readonly mime_type?: string;
  readonly file_size?: number;
}

/** At most one file, as an album arrives in several messages. */
export function filesOf(said: Message): readonly FileRef[] {
  const photo = said.photo?.toSorted((a, b) => b.width * b.height - a.width * a.height)[0];
  if (photo !== undefined) return [fileOf(photo, 'photo.jpg', 'image/jpeg')];
  // For older clients an animation is also given as a document.
  if (said.animation !== undefined) return [fileOf(said.animation, 'animation.mp4', 'video/mp4')];
  if (said.document !== undefined) return [fileOf(said.document, 'file', 'application/octet-stream')];
  if (said.video !== undefined) return [fileOf(said.video, 'video.mp4', 'video/mp4')];
  if (said.audio !== undefined) return [fileOf(said.audio, 'audio.mp3', 'audio/mpeg')];
  if (said.voice !== undefined) return [fileOf(said.voice, 'voice.ogg', 'audio/ogg')];
  if (said.video_note !== undefined) return [fileOf(said.video_note, 'video-note.mp4', 'video/mp4')];
  if (said.sticker !== undefined) {
    const { is_animated, is_video } = said.sticker;
    if (is_animated) return [fileOf(said.sticker, 'sticker.tgs', 'application/x-tgsticker')];
    return [
      is_video
        ? fileOf(said.sticker, 'sticker.webm', 'video/webm')
        : fileOf(said.sticker, 'sticker.webp', 'image/webp'),
    ];
  }
  return [];
}

const fileOf = (given: Given, name: string, mime: string): FileRef => ({
  id: given.file_id,
  name: given.file_name ?? name,
  mime: given.mime_type ?? mime,
  bytes: given.file_size ?? 0,
});

/** Requests the path, which is valid for an hour, then the bytes. Errors never contain the address, because it contains the token. */
export async function fetchFile(file: FileRef, link: Link<Account>): Promise<ReadableStream<Uint8Array>> {
  const { account } = link;
  const { api } = await clientOf(account);
  const signal = limitedSignal(link.signal, TIME_LIMIT_MS);
  const { file_path: path } = await api.getFile({ file_id: file.id }, signal as never).catch((error: unknown) => {
    throw thrown(error);
  });
  if (path === undefined || path.startsWith('/'))
    throw new Error(
      'Telegram gives no path to download this file from (a server of your own must not run with --local)',
    );
  const address = `${account.apiUrl}/file/bot${account.token.reveal()}/${path.split('/').map(encodeURIComponent).join('/')}`;
  const response = await fetch(address, { redirect: 'manual', signal }).catch(() => undefined);
  if (response === undefined) throw new Error('the file could not be fetched from Telegram: network error');
  if (response.ok) return fileBody(response, file, link);
  await response.body?.cancel();
  throw new Error(`the file could not be fetched from Telegram: HTTP ${response.status}`);
}
