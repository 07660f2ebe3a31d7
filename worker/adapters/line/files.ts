// Streams a file that a person sent from LINE's data API, by the id of its message. LINE keeps files for a limited time.
// LINE converts videos and audio first, and reports when they are ready.
import { setTimeout as sleep } from 'node:timers/promises';
import { accountFailed, type FileRef, type Link } from '../../sdk/index.ts';
import { fileBody } from '../../sdk/platform/file-body.ts';
import { isObject, textAt } from '../../sdk/platform/foreign-json.ts';
import { limitedSignal } from '../../sdk/platform/limited-signal.ts';
import { safeJson } from '../../sdk/text/safe-json.ts';
import type { Account } from './config.ts';

/** Time limit until the response begins. */
const ANSWER_LIMIT_MS = 30_000;
/** Time limit for a whole file, so that a stalled download cannot last forever. */
const FILE_LIMIT_MS = 3_600_000;
const PREPARED_LIMIT_MS = 30_000;
const ASK_EVERY_MS = 1_000;

/** Throws if LINE refuses the file. The token goes to the data API only, so redirects are not followed. */
export async function fetchFile(file: FileRef, link: Link<Account>): Promise<ReadableStream<Uint8Array>> {
  if (!/^\d{1,30}$/.test(file.id)) throw new Error('this is not a message of LINE');
  for (let waitedMs = 0; ; waitedMs += ASK_EVERY_MS) {
    const response = await get(`${file.id}/content`, link).catch(() => undefined);
    if (response === undefined)
      throw new Error(`${file.name} could not be fetched from LINE: no answer, or a redirect`);
    if (response.status !== 202 && response.ok) return fileBody(response, file, link);
    await response.body?.cancel();
    if (response.status === 401)
      throw accountFailed('LINE answered 401', 'issue a channel access token, put it into .env and reload');
    if (response.status !== 202) throw new Error(`${file.name}: LINE answered ${response.status}`);
    if (waitedMs >= PREPARED_LIMIT_MS) throw new Error(`${file.name}: LINE is still preparing it`);
    if ((await preparation(file, link)) === 'failed') throw new Error(`${file.name}: LINE could not prepare it`);
    await sleep(ASK_EVERY_MS, undefined, { signal: link.signal });
  }
}

async function preparation({ id }: FileRef, link: Link<Account>): Promise<string | undefined> {
  const response = await get(`${id}/content/transcoding`, link);
  const json = safeJson(await response.text());
  return isObject(json) ? textAt(json, 'status') : undefined;
}

async function get(path: string, { account, signal }: Link<Account>): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error('no answer of LINE')), ANSWER_LIMIT_MS);
  try {
    return await fetch(`${account.dataApiUrl}/v2/bot/message/${path}`, {
      redirect: 'error',
      signal: limitedSignal(signal, FILE_LIMIT_MS, late.signal),
      headers: { authorization: `Bearer ${account.channelAccessToken.reveal()}` },
    });
  } finally {
    clearTimeout(timer);
  }
}
