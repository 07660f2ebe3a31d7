// A multipart form of a message with files. Files are streamed, and the form's length is known in advance.
import { randomUUID } from 'node:crypto';
import type { Json } from '../../sdk/platform/foreign-json.ts';
import type { SizedContent } from '../../sdk/platform/sized-file.ts';

export interface SentFile extends SizedContent {
  readonly name: string;
  readonly type: string;
}

export interface Form extends AsyncIterable<Uint8Array> {
  readonly headers: Readonly<Record<string, string>>;
}

/** Each read of the form reads the files anew. */
export function formOf(json: Json, files: readonly SentFile[]): Form {
  const boundary = `svc-${randomUUID()}`;
  const part = (name: string, type: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name=${name}\r\nContent-Type: ${type}\r\n\r\n`;
  const words = Buffer.from(`${part('"payload_json"', 'application/json')}${JSON.stringify(json)}\r\n`);
  const parts = files.map((file, index) => ({
    head: Buffer.from(part(`"files[${index}]"; filename="${nameIn(file)}"`, typeOf(file))),
    file,
  }));
  const end = Buffer.from(`--${boundary}--\r\n`);
  const size = parts.reduce((sum, { head, file }) => sum + head.length + file.bytes + BREAK.length, 0);
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(words.length + size + end.length),
    },
    async *[Symbol.asyncIterator]() {
      yield words;
      for (const { head, file } of parts) {
        yield head;
        yield* file.content();
        yield BREAK;
      }
      yield end;
    },
  };
}

const BREAK = Buffer.from('\r\n');

/** Removes characters that could end the quoted name or the header line. */
const nameIn = ({ name }: SentFile): string => name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}";\\/]/gu, '_');
const typeOf = ({ type }: SentFile): string => (/^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'application/octet-stream');
