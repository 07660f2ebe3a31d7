// Reading a body: bytes as they came, never more than the limit, refused before reading where its length is announced.
// What the bytes mean is decided elsewhere (json-body.ts, the webhook's own adapter).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SvcError } from '../../shared/svc-error.ts';
import { contextOf } from './request-context.ts';

/** The whole body. Throws `body_too_large`, or `invalid_request` when the client went away. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limitBytes: number,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  if (contextOf(request).awaitsContinue) {
    contextOf(request).awaitsContinue = false;
    response.writeContinue();
  }
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      sizeBytes += chunk.length;
      chunks.push(chunk);
      if (sizeBytes <= limitBytes) return;
      request.off('data', onData);
      chunks.length = 0;
      reject(tooLarge(limitBytes));
    };
    const onGone = (): void => {
      if (!request.complete) reject(new SvcError('invalid_request', 'the body ended early'));
    };
    const onEnd = (): void =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

const tooLarge = (limitBytes: number): SvcError =>
  new SvcError('body_too_large', `a body here has at most ${limitBytes} bytes`, { details: { limitBytes } });
