// A file for platforms that need its size before its bytes.
import type { FileContent, Link } from '../adapter.ts';
import type { FileRef } from '../message.ts';

export interface SizedContent extends FileContent {
  readonly bytes: number;
}

/** Opens a file with its size. A file of unknown size is read twice, so it is never whole in memory. The first pass counts its bytes. */
export async function openSized(file: FileRef, link: Pick<Link<unknown>, 'openFile'>): Promise<SizedContent> {
  const { bytes, content } = await link.openFile(file);
  if (bytes !== undefined) return { bytes, content };
  let counted = 0;
  for await (const chunk of content()) counted += chunk.byteLength;
  return { bytes: counted, content: () => exactly(counted, content(), file.name) };
}

/** Throws if the file has another size now. With a wrong size the platform would cut the file or wait for more bytes. */
async function* exactly(bytes: number, content: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const chunk of content) {
    left -= chunk.byteLength;
    if (left < 0) break;
    yield chunk;
  }
  if (left !== 0) throw new Error(`${name} has another size than a moment ago`);
}
