// A file for platforms that are told its size before its bytes.
import type { FileContent, Link } from '../adapter.ts';
import type { FileRef } from '../message.ts';

export interface SizedContent extends FileContent {
  readonly bytes: number;
}

/** One that lies on a platform is read twice: the first time is counted, so that it never lies in memory. */
export async function openSized(file: FileRef, link: Pick<Link<unknown>, 'openFile'>): Promise<SizedContent> {
  const { bytes, content } = await link.openFile(file);
  if (bytes !== undefined) return { bytes, content };
  let counted = 0;
  for await (const chunk of content()) counted += chunk.byteLength;
  return { bytes: counted, content: () => exactly(counted, content(), file.name) };
}

/** What the platform was told of the size would cut the one and wait for the other. */
async function* exactly(bytes: number, content: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const chunk of content) {
    left -= chunk.byteLength;
    if (left < 0) break;
    yield chunk;
  }
  if (left !== 0) throw new Error(`${name} has another size than a moment ago`);
}
