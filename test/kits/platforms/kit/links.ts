// Files that are shown as links to the host, as somebody sees them who opens each: read at the end.
import type { Target } from './platform.ts';

/** `http.publicUrl` of the host that is killed. */
export const PUBLIC_URL = 'https://bot.example';
const LINK = new RegExp(`${PUBLIC_URL}(/[^\\s)>\\]]+)`, 'g');

export class Links {
  readonly #contents = new Map<string, string>();

  /** Opens those in the texts, at the host itself. */
  async open(texts: readonly string[], { url }: Target): Promise<void> {
    for (const path of texts.flatMap(pathsIn)) {
      if (this.#contents.has(path)) continue;
      const answer = await fetch(`${url}${path}`);
      this.#contents.set(path, answer.ok ? await answer.text() : `answered ${answer.status}`);
    }
  }

  /** What is behind those in this text. */
  filesOf(text: string): readonly string[] {
    return pathsIn(text).map((path) => this.#contents.get(path) ?? 'not opened');
  }
}

const pathsIn = (text: string): readonly string[] => [...text.matchAll(LINK)].map(([, path = '']) => path);
