// Bytes at an address of a file. The implementation names it, but what it names may come from whoever sent the file: of private addresses its
// own alone (host and port of `url`) is asked.

import type { Link } from '../../sdk/index.ts';
import { fetchForeign } from '../../sdk/platform/foreign-file.ts';
import type { Account } from './config.ts';

/** Undefined where there is nothing to be had: addresses of QQ end after some time. */
export async function fetchAddress(
  address: string,
  link: Pick<Link<Account>, 'account' | 'signal' | 'maxFileBytes'>,
): Promise<ReadableStream<Uint8Array> | undefined> {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const isOwn = link.account.url !== undefined && new URL(link.account.url).host === url.host;
  return fetchForeign(url, isOwn, link);
}
