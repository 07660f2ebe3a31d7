// Parameters of a call as Telegram takes them: query, form, JSON and multipart, where uploaded files are named by their field or by
// `attach://<name>`.
import type { IncomingMessage } from 'node:http';

export interface Upload {
  readonly name: string;
  readonly bytes: Buffer;
}
/** Values as they came: text of a form is read as JSON where it is some. */
export type Params = Readonly<Record<string, unknown>>;

export class TelegramRefusal extends Error {
  readonly code: number;
  readonly parameters: object | undefined;

  constructor(code: number, message: string, parameters?: object) {
    super(message);
    this.code = code;
    this.parameters = parameters;
  }
}

export async function readParams(request: IncomingMessage, query: URLSearchParams): Promise<Params> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const type = request.headers['content-type'] ?? '';
  const asked = Object.fromEntries(query);
  if (body.length === 0) return asked;
  if (type.startsWith('application/json')) return { ...asked, ...(JSON.parse(body.toString()) as Params) };
  if (type.startsWith('multipart/form-data')) return { ...asked, ...multipart(body, type) };
  return {
    ...asked,
    ...Object.fromEntries([...new URLSearchParams(body.toString())].map(([k, v]) => [k, readText(v)])),
  };
}

/** Headers without blanks and names without quotes, as some clients write them, are read as well. */
function multipart(body: Buffer, type: string): Params {
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1] ?? '';
  const parts = body.toString('latin1').split(`--${boundary}`).slice(1, -1);
  return Object.fromEntries(
    parts.map((part): [string, unknown] => {
      const end = part.indexOf('\r\n\r\n');
      const head = Buffer.from(part.slice(0, end), 'latin1').toString();
      const bytes = Buffer.from(part.slice(end + 4, -2), 'latin1');
      const name = /[; ]name="?([^";\r\n]+)/.exec(head)?.[1] ?? '';
      const file = /filename="?([^";\r\n]+)/.exec(head)?.[1];
      return [name, file === undefined ? readText(bytes.toString()) : ({ name: file, bytes } satisfies Upload)];
    }),
  );
}

function readText(text: string): unknown {
  try {
    return /^[[{]|^(?:true|false|-?\d+)$/.test(text) ? (JSON.parse(text) as unknown) : text;
  } catch {
    return text;
  }
}

/** The bytes of an `attach://` name, of an uploaded field, or the file_id itself. */
export function fileIn(value: unknown, params: Params): Upload | string {
  const named = typeof value === 'string' && value.startsWith('attach://') ? params[value.slice(9)] : value;
  if (typeof named === 'object' && named !== null && 'bytes' in named) return named as Upload;
  return String(named);
}

const TAGS =
  /^(?:b|strong|i|em|u|ins|s|strike|del|code|pre|blockquote|tg-spoiler|a href="[^"<>]*"|code class="language-[^"<>]*")$/;

/** The text that people see of HTML, read as Telegram reads it. Throws as it does. */
export function readHtml(html: string): string {
  const open: string[] = [];
  const text = html.replace(/<([^<>]*)>|<|>/g, (whole, tag: string | undefined) => {
    if (tag === undefined) throw unreadable(`Unsupported character "${whole}"`);
    const name = /^\/?([a-z-]+)/.exec(tag)?.[1] ?? '';
    if (tag.startsWith('/')) {
      if (open.pop() !== name) throw unreadable(`Unexpected end tag "${name}"`);
    } else if (TAGS.test(tag)) open.push(name);
    else throw unreadable(`Unsupported start tag "${name}"`);
    return '';
  });
  if (open.length > 0) throw unreadable(`Can't find end tag corresponding to start tag "${open.at(-1)}"`);
  return text.replace(/&(amp|lt|gt|quot);/g, (_, name: 'amp' | 'lt' | 'gt' | 'quot') => SIGNS[name]);
}

const SIGNS = { amp: '&', lt: '<', gt: '>', quot: '"' } as const;
const unreadable = (why: string): TelegramRefusal =>
  new TelegramRefusal(400, `Bad Request: can't parse entities: ${why}`);
