// Splits a post's files into calls. One file with a short text has it as its caption; other files follow the text, grouped into albums.
// An album takes no buttons. Without a text, the buttons are therefore a message before the album. Pure.
import type { FileRef, FilesApart } from '../../sdk/index.ts';
import { isPhoto } from './files.ts';
import { visibleLength } from './render.ts';

const MOST_CAPTION = 1_024;
const MOST_IN_ALBUM = 10;

/** The files in the groups in which Telegram accepts them. Each group is one call. */
export function apart(text: string, files: readonly FileRef[]): FilesApart {
  if (isCaptioned(text, files)) return { withText: files, behind: [] };
  const albums = albumsOf(files);
  const [first = [], ...rest] = albums;
  return text === '' && first.length === 1 ? { withText: first, behind: rest } : { withText: [], behind: albums };
}

/** Whether the text is the caption of a single file. */
export const isCaptioned = (text: string, files: readonly FileRef[]): boolean =>
  files.length === 1 && visibleLength(text) <= MOST_CAPTION;

/** Photos in albums of their own, because Telegram does not mix them with other files. */
export function albumsOf(files: readonly FileRef[]): readonly (readonly FileRef[])[] {
  const kinds = [files.filter(isPhoto), files.filter((file) => !isPhoto(file))];
  return kinds.flatMap((kind) =>
    Array.from({ length: Math.ceil(kind.length / MOST_IN_ALBUM) }, (_, i) =>
      kind.slice(i * MOST_IN_ALBUM, (i + 1) * MOST_IN_ALBUM),
    ),
  );
}
