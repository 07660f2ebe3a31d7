// Files in both directions. Outgoing files are sent as base64 within the call.
// The implementation may run on another machine and cannot read our paths.
// If the account prefers links, the implementation fetches the files itself, and no file is held in memory.
// Incoming files are fetched by their URL, or requested from the implementation.
//
//   ONEBOT11-FILES-1  A path on the implementation's machine is never read, even if both run on one machine. A path from a platform must not name our
//                     files.
//   ONEBOT11-FILES-2  A URL may come from the sender of the file. Private addresses are refused, except the account's own host and port (`url`).
//   ONEBOT11-FILES-3  Implementations differ in the forms of a file that they accept, so forms are tried in turn. A refused message was not shown.

import type { FileRef, Link } from '../../sdk/index.ts';
import { fetchForeign } from '../../sdk/platform/foreign-file.ts';
import { isObject, type Json, textAt } from '../../sdk/platform/foreign-json.ts';
import type { Answer } from './calls/answer.ts';
import { type Caller, callerOf } from './calls/caller.ts';
import type { Account } from './config.ts';
import type { Piece } from './message/cq-code.ts';
import { type FileName, readFileId } from './message/file-name.ts';
import { idOut } from './message/json.ts';
import { messageTo, type Place } from './place.ts';

/** Bytes of files for one call, held in memory. Base64 adds a third. */
export const MOST_SENT_BYTES = 30_000_000;

export const isPicture = ({ mime }: FileRef): boolean => /^image\/(?:jpeg|png|gif|webp|bmp)$/.test(mime);

export const imagePiece = (source: string): Piece => ({ type: 'image', data: { file: source } });

/** Tries links first if the account has them. If the implementation refuses, the bytes are sent instead. */
export async function withSources(
  files: readonly FileRef[],
  link: Link<Account>,
  ask: (sources: readonly string[]) => Promise<Answer>,
): Promise<Answer> {
  const urls = link.account.files === 'link' ? files.flatMap((file) => link.fileUrl(file) ?? []) : [];
  if (urls.length === files.length && urls.length > 0) {
    const answer = await ask(urls);
    if (answer.kind !== 'refused') return answer;
    link.log.warn({ reason: answer.reason }, 'files were not taken by their links: sent within the call');
  }
  const sources: string[] = [];
  for (const file of files) sources.push(inline(await link.readFile(file)));
  return ask(sources);
}

/** Sends a file or video as a message. If that is refused, uploads it. */
export const sendFile = (
  file: FileRef,
  { place, caller, link }: { readonly place: Place; readonly caller: Caller; readonly link: Link<Account> },
): Promise<Answer> =>
  withSources([file], link, async ([source = '']) => sendSource({ ...file, source }, { place, caller }));

async function sendSource(
  file: FileRef & { readonly source: string },
  { place, caller }: { readonly place: Place; readonly caller: Caller },
): Promise<Answer> {
  const data = { file: file.source, name: file.name };
  const type = file.mime === 'video/mp4' ? 'video' : 'file';
  const said = await caller.call(...messageTo(place, [{ type, data }]));
  if (said.kind !== 'refused') return said;
  const uploaded =
    place.kind === 'group'
      ? await caller.call('upload_group_file', { group_id: idOut(place.group), ...data })
      : await caller.call('upload_private_file', { user_id: idOut(place.user), ...data });
  return uploaded.kind === 'refused' ? said : uploaded;
}

const inline = (bytes: Uint8Array): string => `base64://${Buffer.from(bytes).toString('base64')}`;

/** The bytes of an incoming file. Throws if the implementation does not provide them. */
export async function fetchFile(file: FileRef, link: Link<Account>): Promise<ReadableStream<Uint8Array>> {
  const name = readFileId(file.id);
  if (name === undefined) throw new Error(`${file.name} is no file of OneBot`);
  const direct = name.url === undefined ? undefined : await fetchAddress(name.url, link);
  if (direct !== undefined) return direct;
  const caller = callerOf(link);
  let reason = 'it has no address';
  for (const [action, params] of questionsFor(name)) {
    const answer = await caller.call(action, params);
    if (answer.kind === 'refused') reason = answer.reason;
    if (answer.kind !== 'ok' || !isObject(answer.data)) continue;
    const found = await readFound(answer.data, link);
    if (typeof found !== 'string') return found;
    reason = `${action}: ${found}`;
  }
  throw new Error(`${file.name} could not be fetched: ${reason}`);
}

/** Calls that may return the file, in the order to try them. */
function questionsFor({ kind, file, group }: FileName): readonly (readonly [action: string, params: object])[] {
  if (file === '') return [];
  const general = ['get_file', { file_id: file, file }] as const;
  switch (kind) {
    case 'image':
      return [['get_image', { file }], general];
    case 'record':
      return [['get_record', { file, out_format: 'amr' }], general];
    case 'video':
      return [general];
    case 'file':
      return [
        group === undefined
          ? ['get_private_file_url', { file_id: file }]
          : ['get_group_file_url', { group_id: idOut(group), file_id: file }],
        general,
      ];
  }
}

/** The bytes, or a reason why there are none. A path on the implementation's machine is never read. */
async function readFound(data: Json, link: Link<Account>): Promise<ReadableStream<Uint8Array> | string> {
  const [url, file, base64] = [textAt(data, 'url'), textAt(data, 'file') ?? '', textAt(data, 'base64')];
  const given = base64 ?? (file.startsWith('base64://') ? file.slice('base64://'.length) : undefined);
  if (given !== undefined) return streamOf(Buffer.from(given, 'base64'));
  const address = [url, file].find((one) => one !== undefined && /^https?:\/\//i.test(one));
  if (address === undefined)
    return 'it gives a path on its own machine, and no address: turn on base64 or addresses there';
  return (await fetchAddress(address, link)) ?? 'the address that it gives is private or does not answer';
}

const streamOf = (bytes: Uint8Array): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });

/** Undefined if the file cannot be fetched. QQ's URLs expire after a while. */
async function fetchAddress(
  address: string,
  link: Pick<Link<Account>, 'account' | 'signal' | 'maxFileBytes'>,
): Promise<ReadableStream<Uint8Array> | undefined> {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const isOwn = link.account.url !== undefined && new URL(link.account.url).host === url.host;
  return fetchForeign(url, isOwn, link);
}
