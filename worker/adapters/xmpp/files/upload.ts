// Uploads a file: requests a slot from the server's upload service, then sends the bytes (XEP-0363).
// A file is invisible until a message names its address, so a failure before that can be retried.
import type { XmlElement } from '@xmpp/client';
import type { FileRef, Link, SendResult } from '../../../sdk/index.ts';
import { limitedSignal } from '../../../sdk/platform/limited-signal.ts';
import { openSized } from '../../../sdk/platform/sized-file.ts';
import { type Account, domainOf } from '../config.ts';
import { infoOf, servicesOf } from '../connection/disco.ts';
import type { Session } from '../connection/session.ts';
import { faultOfError, sendFault } from '../failures.ts';
import { inert, NS } from '../stanza.ts';
import { requestFile } from './file-request.ts';

const UPLOAD_MS = 50_000;
const ALLOWED_HEADERS = new Set(['authorization', 'cookie', 'expires']);

interface Service {
  readonly jid: string;
  readonly maxBytes: number;
}
const services = new WeakMap<Session, Promise<Service | undefined>>();

/** The public address of the uploaded file, or the reason why there is none. */
export async function upload(file: FileRef, session: Session, link: Link<Account>): Promise<string | SendResult> {
  const { account } = link;
  let known = services.get(session);
  if (known === undefined) {
    known = find(session, domainOf(account));
    services.set(session, known);
    known.catch(() => services.delete(session));
  }
  const service = await known;
  if (service === undefined) return { kind: 'refused', reason: 'the server has no upload service (XEP-0363)' };
  const body = await openSized(file, link);
  if (body.bytes > service.maxBytes)
    return {
      kind: 'refused',
      reason: `${file.name} is larger than the ${service.maxBytes} bytes that the server takes`,
    };
  const slot = await askSlot(session, service, { file, size: body.bytes });
  if ('kind' in slot) return slot;
  const headers = { ...slot.headers, 'content-type': mimeOf(file) };
  const signal = limitedSignal(link.signal, UPLOAD_MS);
  const answer = await requestFile({ url: slot.put, method: 'PUT', headers, body, signal }, account);
  answer.resume();
  const status = answer.statusCode ?? 0;
  if (status >= 200 && status < 300) return slot.get;
  if (status === 429 || status >= 500) return { kind: 'later', afterMs: 30_000 };
  return { kind: 'refused', reason: `the upload service answered ${status} to ${file.name}` };
}

/** The first service to answer. A silent one is not awaited, since it may be on an unreachable server. */
async function find(session: Session, domain: string): Promise<Service | undefined> {
  const own = await serviceAt(session, domain);
  if (own !== undefined) return own;
  const none = new Error('it takes no files');
  const asked = (await servicesOf(session, domain)).map(async (jid) => {
    const found = await serviceAt(session, jid);
    if (found === undefined) throw none;
    return found;
  });
  return Promise.any(asked).catch(({ errors }: AggregateError) => {
    const silent = errors.find((error): error is Error => error instanceof Error && error !== none);
    if (silent !== undefined) throw silent;
    return undefined;
  });
}

async function serviceAt(session: Session, jid: string): Promise<Service | undefined> {
  const info = await infoOf(session, jid);
  if (info?.getChildren('feature').some(({ attrs }) => attrs['var'] === NS.upload) !== true) return undefined;
  const forms = info.getChildren('x', NS.forms);
  const limit = forms.map((form) => Number(fieldOf(form, 'max-file-size'))).find((size) => size > 0);
  return { jid, maxBytes: limit ?? Number.POSITIVE_INFINITY };
}

const fieldOf = (form: XmlElement, name: string): string =>
  form
    .getChildren('field')
    .find(({ attrs }) => attrs['var'] === name)
    ?.getChildText('value') ?? '';

interface Slot {
  readonly put: string;
  readonly get: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function askSlot(
  session: Session,
  { jid }: Service,
  { file, size }: { readonly file: FileRef; readonly size: number },
): Promise<Slot | SendResult> {
  const { xml } = session;
  const filename = inert(file.name.replace(/[/\\]/g, '_').slice(0, 200)) || 'file';
  const asked = xml('request', { xmlns: NS.upload, filename, size: String(size), 'content-type': mimeOf(file) });
  try {
    const answer = await session.request(xml('iq', { type: 'get', to: jid }, asked));
    const slot = answer.getChild('slot', NS.upload);
    const put = slot?.getChild('put');
    const [to, from] = [put?.attrs['url'] ?? '', slot?.getChild('get')?.attrs['url'] ?? ''];
    if (!URL.canParse(to) || !URL.canParse(from))
      return { kind: 'refused', reason: 'the upload service gave no addresses' };
    const headers = (put?.getChildren('header') ?? []).flatMap((header): [string, string][] => {
      const name = (header.attrs['name'] ?? '').toLowerCase();
      return ALLOWED_HEADERS.has(name) ? [[name, header.text().replace(/[\r\n]/g, '')]] : [];
    });
    return { put: to, get: from, headers: Object.fromEntries(headers) };
  } catch (error) {
    const fault = faultOfError(error);
    if (fault === undefined) throw error;
    return sendFault(fault);
  }
}

const mimeOf = ({ mime }: FileRef): string => (/^[\w.+-]+\/[\w.+-]+$/.test(mime) ? mime : 'application/octet-stream');
