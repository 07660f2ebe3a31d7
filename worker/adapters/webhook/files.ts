// Files of the webhook: references both ways. The bytes go over HTTP, not in a message.
//
//   F1  A file that comes is fetched from where the message says, when somebody reads it: over https from public addresses, and from hosts
//       that the account names (that of `url` at its port, and `fileHosts`), which may be private. No secret goes there, and no redirect is
//       followed.
//   F2  A file that goes out is a signed link of the host, which ends after `files.linkHours`.

import type { FileRef, Link } from '../../sdk/index.ts';
import { fetchForeign } from '../../sdk/platform/foreign-file.ts';
import type { Account } from './config.ts';

/** F1. */
export async function fetchFile(file: FileRef, link: Link<Account>): Promise<ReadableStream<Uint8Array>> {
  if (!URL.canParse(file.id)) throw new Error(`${file.name} has no address`);
  const url = new URL(file.id);
  const isTrusted = isOwn(url, link.account);
  const found = isTrusted || url.protocol === 'https:' ? await fetchForeign(url, isTrusted, link) : undefined;
  if (found === undefined)
    throw new Error(`${file.name} could not be fetched: ${url.host} does not give it, or is none of fileHosts`);
  return found;
}

/** F1. */
const isOwn = ({ host, hostname }: URL, { url, fileHosts = [] }: Account): boolean =>
  fileHosts.some((named) => [host, hostname].includes(named.toLowerCase())) ||
  (url !== undefined && URL.canParse(url) && new URL(url).host === host);

interface FileLink extends Omit<FileRef, 'id'> {
  readonly url: string;
}

/** F2. The name of a file to which there is no link, where there is one. */
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
