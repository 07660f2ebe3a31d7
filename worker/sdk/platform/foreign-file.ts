// Fetches a file from an address that a message names. Anybody may have written that address.
//
//   FOREIGN-FILE-1  Only public addresses and hosts that the account trusts are called, so no address leads into our own network.
//   FOREIGN-FILE-2  The request carries no token and follows no redirect.
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import type { Link } from '../adapter.ts';
import { tooLargeFile } from './file-body.ts';
import { limitedSignal } from './limited-signal.ts';
import { isPublic, lookupPublic } from './public-address.ts';

const FETCH_LIMIT_MS = 120_000;

/** The file as a stream; undefined if it cannot be fetched. `isTrusted`: the address may be private, because the account trusts its host. */
export async function fetchForeign(
  url: URL,
  isTrusted: boolean,
  { signal, maxFileBytes }: Pick<Link<unknown>, 'signal' | 'maxFileBytes'>,
): Promise<ReadableStream<Uint8Array> | undefined> {
  if (!mayBeAsked(url, isTrusted)) return undefined;
  const response = await new Promise<IncomingMessage | undefined>((resolve) => {
    const options = {
      agent: false as const,
      signal: limitedSignal(signal, FETCH_LIMIT_MS),
      ...(isTrusted ? {} : { lookup: lookupPublic }),
    };
    const asked = (url.protocol === 'http:' ? plainRequest : secureRequest)(url, options, resolve);
    asked.on('error', () => resolve(undefined));
    asked.end();
  });
  const isTooLarge = Number(response?.headers['content-length'] ?? 0) > maxFileBytes;
  if (response?.statusCode === 200 && !isTooLarge) return Readable.toWeb(response) as ReadableStream<Uint8Array>;
  response?.destroy();
  if (response?.statusCode === 200) throw tooLargeFile('the file', maxFileBytes);
  return undefined;
}

/** Refuses other schemes, credentials in the address, and private IP addresses. A host name is checked when it is looked up. */
function mayBeAsked({ protocol, hostname, username, password }: URL, isTrusted: boolean): boolean {
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  const host = hostname.replace(/^\[|\]$/g, '');
  return username === '' && password === '' && (isTrusted || isIP(host) === 0 || isPublic(host));
}
