// Which files of a post go in which calls: one with a short text as its caption, others behind the text, together where Telegram lets them
// be. An album holds no buttons: those of a post without a text are a message before it, as a text is. Pure.
import type { FileRef, FilesApart } from '../../sdk/index.ts';
import { isPhoto } from './files.ts';
import { visibleLength } from './render.ts';

const MOST_CAPTION = 1_024;
const MOST_IN_ALBUM = 10;

/** As Telegram takes them: each group is one call. */
export function apart(text: string, files: readonly FileRef[]): FilesApart {
  if (isCaptioned(text, files)) return { withText: files, behind: [] };
  const albums = albumsOf(files);
  const [first = [], ...rest] = albums;
  return text === '' && first.length === 1 ? { withText: first, behind: rest } : { withText: [], behind: albums };
}

/** One file whose caption is the text. */
export const isCaptioned = (text: string, files: readonly FileRef[]): boolean =>
  files.length === 1 && visibleLength(text) <= MOST_CAPTION;

/** Photos together, everything else together: Telegram does not mix them. */
export function albumsOf(files: readonly FileRef[]): readonly (readonly FileRef[])[] {
  const kinds = [files.filter(isPhoto), files.filter((file) => !isPhoto(file))];
  return kinds.flatMap((kind) =>
    Array.from({ length: Math.ceil(kind.length / MOST_IN_ALBUM) }, (_, i) =>
      kind.slice(i * MOST_IN_ALBUM, (i + 1) * MOST_IN_ALBUM),
    ),
  );
}
