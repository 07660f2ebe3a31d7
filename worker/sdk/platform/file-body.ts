// The body of an HTTP response that is a file. A response whose Content-Length is over `maxFileBytes` is not read. If Content-Length is missing or
// wrong, the host counts the bytes and stops at the limit.
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
