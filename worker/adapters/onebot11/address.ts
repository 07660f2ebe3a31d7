// Bytes at an address of a file. The implementation names it, but what it names may come from whoever sent the file.
//
//   A1  Public addresses alone, and the implementation's own (host and port of `url`): no other one leads into our network.
//   A2  No token is sent, and no redirect followed.
import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { tooLargeFile } from '../../sdk/file-body.ts';
import type { Link } from '../../sdk/index.ts';
import { limitedSignal } from '../../sdk/limited-signal.ts';
import { isPublic, lookupPublic } from '../../sdk/public-address.ts';
import type { Account } from './config.ts';

const FETCH_LIMIT_MS = 120_000;

/** Undefined where there is nothing to be had: addresses of QQ end after some time. */
export async function fetchAddress(
  address: string,
  { account, signal, maxFileBytes }: Pick<Link<Account>, 'account' | 'signal' | 'maxFileBytes'>,
): Promise<ReadableStream<Uint8Array> | undefined> {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const isOwn = account.url !== undefined && new URL(account.url).host === url.host;
  if (!mayBeAsked(url, isOwn)) return undefined;
  const response = await new Promise<IncomingMessage | undefined>((resolve) => {
    const options = {
      agent: false as const,
      signal: limitedSignal(signal, FETCH_LIMIT_MS),
      ...(isOwn ? {} : { lookup: lookupPublic }),
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

/** A1. */
function mayBeAsked({ protocol, hostname, username, password }: URL, isOwn: boolean): boolean {
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  const host = hostname.replace(/^\[|\]$/g, '');
  return username === '' && password === '' && (isOwn || isIP(host) === 0 || isPublic(host));
}
