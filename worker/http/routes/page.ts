// The chat page and its files. The files contain no data. So they need no token and are served in every state of the host.
import { SvcError } from '../../../shared/svc-error.ts';
import { PAGE_HEADERS } from '../answer/security-headers.ts';
import { type Exchange, type Handled, type Located, type LocateRequest, route } from './route.ts';

const INDEX = 'index.html';

const locate = ({ files, params }: LocateRequest): Located =>
  files.find(params.file ?? INDEX) === undefined ? undefined : { kind: 'here' };

export const pageRoutes = [
  route({
    method: 'GET',
    path: '/',
    scope: 'none',
    summary: 'The page',
    locate,
    answers: { 200: 'page', 304: 'nothing', 308: 'nothing' },
    handle: serve,
  }),
  route({
    method: 'GET',
    path: '/{file+}',
    scope: 'none',
    summary: 'A file of the page',
    locate,
    answers: { 200: 'page', 304: 'nothing' },
    handle: serve,
  }),
];

function serve({ port, files, params, request }: Exchange<undefined>): Handled {
  const { base } = port.settings();
  if (base !== '' && request.url?.split('?')[0] === base) {
    return { status: 308, headers: { Location: `${base}/` } };
  }
  const name = params.file ?? INDEX;
  const file = files.find(name);
  if (file === undefined) throw new SvcError('not_found', 'this file has just gone');
  const headers = {
    ...PAGE_HEADERS,
    'Content-Type': file.contentType,
    ETag: file.etag,
    'Cache-Control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return known?.includes(file.etag) === true ? { status: 304, headers } : { status: 200, headers, bytes: file.bytes };
}
