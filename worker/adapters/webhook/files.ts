// Files of the webhook are links in both directions. A message never contains their bytes.
//
//   WEBHOOK-FILES-1  An incoming file is fetched from its link when a plugin reads it: over https and from public addresses.
//                    The host of `url` (with its port) and `fileHosts` may be private and use http.
//                    The request carries no secret and follows no redirect.
//   WEBHOOK-FILES-2  An outgoing file is a signed link to this host, valid for `files.linkHours`.

import type { FileRef, Link } from '../../sdk/index.ts';
import { fetchForeign } from '../../sdk/platform/foreign-file.ts';
import type { Account } from './config.ts';

/** Fetches over https from public addresses, or from a host that the account trusts. */
export async function fetchFile(file: FileRef, link: Link<Account>): Promise<ReadableStream<Uint8Array>> {
  if (!URL.canParse(file.id)) throw new Error(`${file.name} has no address`);
  const url = new URL(file.id);
  const isTrusted = isOwn(url, link.account);
  const found = isTrusted || url.protocol === 'https:' ? await fetchForeign(url, isTrusted, link) : undefined;
  if (found === undefined)
    throw new Error(`${file.name} could not be fetched: ${url.host} does not give it, or is none of fileHosts`);
  return found;
}

/** Whether the account trusts the host: it is that of `url`, or one of `fileHosts`. */
const isOwn = ({ host, hostname }: URL, { url, fileHosts = [] }: Account): boolean =>
  fileHosts.some((named) => [host, hostname].includes(named.toLowerCase())) ||
  (url !== undefined && URL.canParse(url) && new URL(url).host === host);

interface FileLink extends Omit<FileRef, 'id'> {
  readonly url: string;
}

/** Signed links to the files, or the name of the first file without a link. */
export function linksTo(
  files: readonly FileRef[],
  { fileUrl }: Pick<Link<Account>, 'fileUrl'>,
): readonly FileLink[] | string {
  const links: FileLink[] = [];
  for (const file of files) {
    const url = fileUrl(file);
    if (url === undefined) return file.name;
    const { name, mime, bytes } = file;
    links.push({ name, mime, bytes, url });
  }
  return links;
}
