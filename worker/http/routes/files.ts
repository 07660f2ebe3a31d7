// Files behind signed links, for platforms that could not take the file. The link itself grants access and expires, so no token is needed.
// A file is always a download of a type that no browser runs. Files are streamed, so memory does not grow with their size.
import { pipeline } from 'node:stream/promises';
import { prepareStream } from '../answer/respond.ts';
import type { OpenFile } from '../api/files-api.ts';
import { type Exchange, type Handled, route } from './route.ts';

const SILENT_MS = 30_000;
/** Types that a browser does not execute. Every other file is sent as bytes. */
const INERT =
  /^(image\/(png|jpeg|gif|webp)|audio\/(mpeg|ogg|wav)|video\/(mp4|webm)|application\/(pdf|zip|json)|text\/(plain|csv))$/;

export const fileRoutes = [
  route({
    method: 'GET',
    path: '/files/{id}',
    scope: 'none',
    summary: 'A stored file, by a signed link that expires (`name`, `expires`, `signature` in the query)',
    answers: { 200: 'any', 403: 'Problem', 404: 'Problem', 410: 'Problem' },
    handle,
  }),
];

async function handle({ port, params, query, request, response, requestId }: Exchange<undefined>): Promise<Handled> {
  const { name, expires, signature } = query;
  const file = await port.files.open({ id: params.id ?? '', name, expires, signature });
  try {
    prepareStream(response, headersOf(file), requestId);
    response.writeHead(200);
    if (request.method === 'HEAD') response.end();
    else {
      response.setTimeout(SILENT_MS, () => response.destroy());
      await pipeline(file.content(), response);
    }
  } catch {
    response.destroy(); // the reader left or the disk failed; Content-Length shows that the file is incomplete
  } finally {
    await file.close();
  }
  return 'taken';
}

const headersOf = ({ name, mime, bytes }: OpenFile): Readonly<Record<string, string>> => ({
  'Content-Type': typeOf(mime),
  'Content-Length': String(bytes),
  'Content-Disposition': `attachment; filename="${name.replace(/[^\w .()-]/g, '_')}"; filename*=UTF-8''${encoded(name)}`,
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'; base-uri 'none'; object-src 'none'",
  'Accept-Ranges': 'none',
});

function typeOf(mime: string): string {
  const type = mime.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!INERT.test(type)) return 'application/octet-stream';
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}

const encoded = (name: string): string =>
  encodeURIComponent(name).replace(/['()*!]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
