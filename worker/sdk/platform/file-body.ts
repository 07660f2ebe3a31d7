// The bytes of an answer that is a file. One that says of itself that it is larger than the host takes is not read at all; one that says
// nothing, or less than it has, the host stops while it counts.
import type { Link } from '../adapter.ts';
import type { FileRef } from '../message.ts';

export async function fileBody(
  { headers, body }: Pick<Response, 'headers' | 'body'>,
  file: FileRef,
  { maxFileBytes }: Pick<Link<unknown>, 'maxFileBytes'>,
): Promise<ReadableStream<Uint8Array>> {
  const said = Number(headers.get('content-length') ?? 0);
  if (said > maxFileBytes) {
    await body?.cancel();
    throw tooLargeFile(file.name, maxFileBytes);
  }
  return body ?? new Blob([]).stream();
}

export const tooLargeFile = (name: string, mostBytes: number): Error =>
  Object.assign(new Error(`${name} has more than files.maxFileBytes, ${mostBytes}`), { code: 'file_too_large' });
