// Downloads a file from an address in a message.
//
//   XMPP-FETCH-1  The address is checked before each request, also after a redirect: only public addresses and the account's `fileHosts`.
//                 At most MOST_REDIRECTS are followed.
//   XMPP-FETCH-2  No more bytes are read than `maxFileBytes` of the account and the host, whatever length the answer claims.
import type { IncomingMessage } from 'node:http';
import { Readable, Transform } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { FileRef, Link } from '../../../sdk/index.ts';
import { limitedSignal } from '../../../sdk/platform/limited-signal.ts';
import type { Account } from '../config.ts';
import { requestFile } from './file-request.ts';

const MOST_REDIRECTS = 3;
const TIME_LIMIT_MS = 60_000;

export async function fetchFile(
  file: FileRef,
  { account, signal: life, maxFileBytes }: Link<Account>,
): Promise<ReadableStream<Uint8Array>> {
  const signal = limitedSignal(life, TIME_LIMIT_MS);
  let url = file.id;
  for (let redirects = 0; ; redirects++) {
    if (!URL.canParse(url)) throw new Error('this file has no address');
    const answer = await requestFile({ url, method: 'GET', headers: { accept: '*/*' }, signal }, account);
    const status = answer.statusCode ?? 0;
    const next = answer.headers.location;
    if (status >= 200 && status < 300) return bounded(answer, Math.min(account.maxFileBytes, maxFileBytes));
    answer.destroy();
    if (status < 300 || status >= 400 || next === undefined || redirects >= MOST_REDIRECTS || !URL.canParse(next, url))
      throw new Error(`the file could not be fetched: ${new URL(url).host} answered ${status}`);
    url = new URL(next, url).href;
  }
}

/** Fails the stream once it exceeds the limit. */
function bounded(answer: IncomingMessage, mostBytes: number): ReadableStream<Uint8Array> {
  const tooLarge = (): Error =>
    Object.assign(new Error(`the file is larger than maxFileBytes (${mostBytes})`), { code: 'file_too_large' });
  if (Number(answer.headers['content-length'] ?? 0) > mostBytes) {
    answer.destroy();
    throw tooLarge();
  }
  let bytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.byteLength;
      if (bytes > mostBytes) done(tooLarge());
      else done(null, chunk);
    },
  });
  limit.once('close', () => answer.destroy());
  answer.once('error', (error) => limit.destroy(error));
  answer.pipe(limit);
  return Readable.toWeb(limit) as NodeReadableStream<Uint8Array> as unknown as ReadableStream<Uint8Array>;
}
