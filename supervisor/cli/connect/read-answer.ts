// Reads an HTTP answer up to a size limit.
import type { IncomingMessage } from 'node:http';
import { SvcError } from '../../../shared/svc-error.ts';

/** Throws `body_too_large`. */
export async function readAnswer(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new SvcError('body_too_large', 'the answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
