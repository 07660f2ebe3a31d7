// Checks of the header section that Node's parser omits. Each of these would otherwise be silently read as something else.
//
//   HEAD-1  `Authorization` and `Host` occur once; Node takes the first of several. HTTP/1.1 needs a valid `Host` (RFC 9112, 3.2); Node
//           accepts any value.
//   HEAD-2  `Transfer-Encoding` is `chunked` alone and absent in HTTP/1.0. Node accepts `gzip, chunked`.
//   HEAD-3  At most 100 headers. The server is set to drop none, so the count is exact.
import type { IncomingMessage } from 'node:http';
import { SvcError } from '../../../shared/svc-error.ts';

export const MOST_HEADERS = 100;
/** A name, an IPv4 address or nothing, or an IPv6 address in brackets; then an optional port. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::\d{0,5})?$/;

/** The first fault of the header section, or undefined. */
export function findHeadFault(request: IncomingMessage): SvcError | undefined {
  const { rawHeaders } = request;
  if (rawHeaders.length > 2 * MOST_HEADERS)
    return new SvcError('headers_too_large', `more than ${MOST_HEADERS} headers`);
  let authorizations = 0;
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations += 1;
  }
  if (authorizations > 1) return new SvcError('invalid_request', 'the Authorization header occurs more than once');
  if (hosts > 1) return new SvcError('invalid_request', 'the Host header occurs more than once');
  if (hosts === 0 && request.httpVersion === '1.1')
    return new SvcError('invalid_request', 'the Host header is missing');
  if (hosts === 1 && !HOST.test(request.headers.host ?? ''))
    return new SvcError('invalid_request', 'the Host header is malformed');
  return findCodingFault(request);
}

function findCodingFault(request: IncomingMessage): SvcError | undefined {
  const coding = request.headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (coding.toLowerCase() !== 'chunked')
    return new SvcError('not_implemented_coding', 'the only transfer coding taken is chunked');
  if (request.httpVersion === '1.0') return new SvcError('invalid_request', 'HTTP/1.0 has no transfer codings');
  return undefined;
}

/** True if the headers announce a body. */
export const hasContent = (request: IncomingMessage): boolean =>
  request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
