// Reads a body as bytes, up to a limit. A body whose Content-Length exceeds the limit is refused before it is read.
// Parsing is left to the caller: JSON for the API, the adapter for a webhook.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SvcError } from '../../../shared/svc-error.ts';
import { FREE_BYTES, HeldBodies, type HeldBody } from './held-bodies.ts';
import { contextOf } from './request-context.ts';

/** One instance a process, because it bounds the memory of the process. */
const held = new HeldBodies();

/** Resolves with the whole body. Throws `body_too_large`, `overloaded`, `request_timeout`, or `invalid_request` if the client goes away. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limitBytes: number,
): Promise<Buffer> {
  const context = contextOf(request);
  const { address } = context;
  const toldBytes = Number(request.headers['content-length'] ?? 0);
  if (toldBytes > limitBytes) throw tooLarge(limitBytes);
  if (toldBytes > FREE_BYTES && held.isFullFor(address, toldBytes)) throw overloaded();
  if (context.awaitsContinue) {
    context.awaitsContinue = false;
    response.writeContinue();
  }
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let opened: HeldBody | undefined;
  return new Promise((resolve, reject) => {
    const refuse = (error: SvcError): void => {
      request.off('data', onData);
      chunks.length = 0;
      reject(error);
    };
    const open = (): HeldBody => {
      const body = held.open(address, () => refuse(tooSlow()));
      response.once('close', body.close); // the bytes stay in memory until the request is answered
      if (response.destroyed) body.close(); // it emits no more
      return body;
    };
    const onData = (chunk: Buffer): void => {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes) return refuse(tooLarge(limitBytes));
      if (sizeBytes !== toldBytes || opened !== undefined) {
        opened ??= open();
        if (!opened.take(chunk.length)) return refuse(overloaded());
      }
      chunks.push(chunk);
    };
    const onGone = (): void => {
      if (!request.complete) reject(new SvcError('invalid_request', 'the body ended early'));
    };
    const onEnd = (): void => {
      opened?.whole();
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    };
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
  });
}

const tooSlow = (): SvcError => new SvcError('request_timeout', 'the body came too slowly, and others needed its room');
const overloaded = (): SvcError =>
  new SvcError('overloaded', 'too many bytes of bodies are under way', { details: { retryAfterMs: 2_000 } });
const tooLarge = (limitBytes: number): SvcError =>
  new SvcError('body_too_large', `a body here has at most ${limitBytes} bytes`, { details: { limitBytes } });
