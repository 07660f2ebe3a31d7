// Files of Slack. An upload takes three steps: request an address, send the bytes, post the message. A download uses the file's id.
//
//   SLACK-FILES-1  The token and the bytes go only to Slack's own addresses, whatever address an answer contains.
//   SLACK-FILES-2  The bytes are streamed from the disk. Slack gets their length beforehand.
//   SLACK-FILES-3  A file is invisible before the last step, so a failure before it can be retried.

import type { FileRef, Link, Outgoing, SendResult } from '../../sdk/index.ts';
import { fileBody } from '../../sdk/platform/file-body.ts';
import { listAt, objectAt, textAt } from '../../sdk/platform/foreign-json.ts';
import { limitedSignal } from '../../sdk/platform/limited-signal.ts';
import { openSized } from '../../sdk/platform/sized-file.ts';
import { blocksOf } from './blocks.ts';
import { type Answer, call, isPlatformAddress } from './client.ts';
import type { Account } from './config.ts';
import { messageId } from './place.ts';

type Post = Extract<Outgoing, { readonly kind: 'post' | 'edit' }>;
type Where = { readonly channel: string; readonly thread: string | undefined };
type Stopped = Exclude<Answer, { kind: 'ok' }>;

const UPLOAD_LIMIT_MS = 50_000;
/** Time for a whole file. Slack accepts up to one gigabyte. */
const FETCH_LIMIT_MS = 3_600_000;

/** Posts one message with files. The message's id is returned only if Slack has shared the files at once. */
export async function postFiles(post: Post, { channel, thread }: Where, link: Link<Account>): Promise<SendResult> {
  const ids: { readonly id: string; readonly title: string }[] = [];
  for (const file of post.files) {
    const up = await upload(file, link);
    if (typeof up !== 'string') return resultOf(up);
    ids.push({ id: up, title: file.name });
  }
  const blocks = blocksOf(post.text, post.buttons);
  const answer = await call(link, 'files.completeUploadExternal', {
    files: ids,
    ...(/^[UW]/.test(channel) ? { channels: channel } : { channel_id: channel }),
    thread_ts: thread,
    ...(blocks === undefined ? { initial_comment: post.text === '' ? undefined : post.text } : { blocks }),
  });
  if (answer.kind !== 'ok') return resultOf(answer);
  const message = await placed(ids[0]?.id ?? '', link).catch(() => undefined); // already posted: only its id is unknown
  return { kind: 'sent', ...(message === undefined ? {} : { message }) };
}

const resultOf = (stopped: Stopped): SendResult =>
  stopped.kind === 'later' ? { ...stopped, account: true } : { kind: 'refused', reason: stopped.reason };

/** The file's id, or the reason why there is none. */
async function upload(file: FileRef, link: Link<Account>): Promise<string | Stopped> {
  const { bytes: length, content } = await openSized(file, link);
  const asked = await call(link, 'files.getUploadURLExternal', { filename: file.name, length });
  if (asked.kind !== 'ok') return asked;
  const [address, id] = [textAt(asked.json, 'upload_url'), textAt(asked.json, 'file_id')];
  if (address === undefined || id === undefined)
    throw new Error('files.getUploadURLExternal: no upload_url or file_id');
  if (!isPlatformAddress(address, link.account.apiUrl))
    throw new Error('files.getUploadURLExternal: upload_url is not an address of Slack');
  const request = {
    method: 'POST',
    redirect: 'error',
    signal: limitedSignal(link.signal, UPLOAD_LIMIT_MS),
    headers: { 'content-type': 'application/octet-stream', 'content-length': String(length) },
    body: content(),
    duplex: 'half',
  };
  // The type of fetch does not allow iterables as bodies.
  const response = await fetch(address, request as unknown as RequestInit);
  await response.body?.cancel();
  if (response.status === 429) return { kind: 'later', afterMs: waitOf(response) };
  if (response.status >= 500) throw new Error(`upload: Slack answered ${response.status}`);
  if (response.ok) return id;
  const reason = `Slack answered ${response.status} to the bytes of ${file.name}`;
  return { kind: 'refused', error: `http_${response.status}`, reason };
}

const waitOf = (response: Response): number => {
  const seconds = Number(response.headers.get('retry-after'));
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 5_000;
};

/** Id of the message that shows a just uploaded file. */
async function placed(id: string, link: Link<Account>): Promise<string | undefined> {
  const answer = await call(link, 'files.info', { file: id });
  if (answer.kind !== 'ok') return undefined;
  const shares = objectAt(objectAt(answer.json, 'file'), 'shares');
  for (const kind of ['public', 'private']) {
    const byChannel = objectAt(shares, kind);
    for (const channel of Object.keys(byChannel)) {
      const ts = textAt(listAt(byChannel, channel)[0] ?? {}, 'ts');
      if (ts !== undefined) return messageId(channel, ts);
    }
  }
  return undefined;
}

/** Downloads from Slack's addresses only. Throws if Slack does not deliver the file. */
export async function fetchFile(file: FileRef, link: Link<Account>): Promise<ReadableStream<Uint8Array>> {
  const answer = await call(link, 'files.info', { file: file.id });
  if (answer.kind === 'later') throw new Error('files.info: Slack asks to wait');
  if (answer.kind === 'refused') throw new Error(answer.reason);
  const found = objectAt(answer.json, 'file');
  const address = textAt(found, 'url_private_download') ?? textAt(found, 'url_private');
  if (address === undefined || !isPlatformAddress(address, link.account.apiUrl))
    throw new Error(`${file.name} does not lie on Slack`);
  const response = await fetch(address, {
    redirect: 'error',
    signal: limitedSignal(link.signal, FETCH_LIMIT_MS),
    headers: { authorization: `Bearer ${link.account.token.reveal()}` },
  }).catch(() => undefined);
  if (response === undefined) throw new Error(`${file.name} could not be fetched from Slack: no answer, or a redirect`);
  // Without permission Slack answers with an HTML sign-in page.
  const isPage = /^text\/html\b/i.test(response.headers.get('content-type') ?? '') && !/html/i.test(file.mime);
  if (response.ok && !isPage) return fileBody(response, file, link);
  await response.body?.cancel();
  throw new Error(
    `${file.name}: Slack answered ${isPage ? 'with a page: the app needs the scope files:read' : response.status}`,
  );
}
