// Uploads files together with their message. Downloads a file through the message that contains it.
//
//   DISCORD-FILES-1  Discord's URL of an attachment is valid for a day. A fresh URL is read from the message before each download.
//   DISCORD-FILES-2  Bytes are fetched without the token, and only from Discord's file hosts. With another API host configured, only from that host.

import type { FileRef, Link } from '../../sdk/index.ts';
import { fileBody } from '../../sdk/platform/file-body.ts';
import { asObject, listAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { limitedSignal } from '../../sdk/platform/limited-signal.ts';
import { openSized } from '../../sdk/platform/sized-file.ts';
import { need } from './client.ts';
import type { Account } from './config.ts';
import type { SentFile } from './form.ts';
import { isSnowflake, shownIn } from './place.ts';

/** Discord's limit for one file of a bot. */
export const MOST_FILE_BYTES = 10_485_760;
const TIME_LIMIT_MS = 60_000;
const PLACES = new Set(['cdn.discordapp.com', 'media.discordapp.net']);

/** Opens the files without reading them. The bytes stream from disk to network. */
export const filesToSend = (
  files: readonly FileRef[],
  link: Pick<Link<Account>, 'openFile'>,
): Promise<readonly SentFile[]> =>
  Promise.all(files.map(async (file) => ({ ...(await openSized(file, link)), name: file.name, type: file.mime })));

/** Asks the message for a fresh URL, since an attachment's URL is valid for a day. Throws if Discord refuses the file. */
export async function fetchFile(file: FileRef, link: Link<Account>): Promise<ReadableStream<Uint8Array>> {
  const [channel = '', message = '', attachment = '', ...rest] = file.id.split('/');
  if (rest.length > 0 || ![channel, message, attachment].every(isSnowflake))
    throw new Error(`${file.name} is not a file of Discord`);
  const found = asObject(await need(link, { method: 'GET', path: `/channels/${channel}/messages/${message}` }));
  const address = textAt(listAt(shownIn(found), 'attachments').find(({ id }) => id === attachment) ?? {}, 'url');
  if (address === undefined) throw new Error(`${file.name} is no longer there`);
  if (!isPlaceOfFiles(address, link.account)) throw new Error(`${file.name} does not lie on Discord`);
  const signal = limitedSignal(link.signal, TIME_LIMIT_MS);
  const response = await fetch(address, { redirect: 'error', signal }).catch(() => undefined);
  if (response === undefined) throw new Error(`${file.name} could not be fetched from Discord: network error`);
  if (response.ok) return fileBody(response, file, link);
  await response.body?.cancel();
  throw new Error(`${file.name} could not be fetched from Discord: HTTP ${response.status}`);
}

/** Whether the URL is one of Discord's file hosts, or the configured API's host. */
function isPlaceOfFiles(address: string, { apiUrl }: Account): boolean {
  const [at, api] = [new URL(address), new URL(apiUrl)];
  return (
    (at.protocol === 'https:' && PLACES.has(at.hostname)) ||
    (at.origin === api.origin && api.hostname !== 'discord.com')
  );
}
