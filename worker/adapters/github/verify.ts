// Verifies GitHub's signature `X-Hub-Signature-256: sha256=<hex>`, an HMAC-SHA256 over the raw body. Pure.
//
//   GITHUB-VERIFY-1  The SHA-1 header (`X-Hub-Signature`) is ignored. A delivery with that header alone is refused.
//   GITHUB-VERIFY-2  Every secret is compared in constant time. Hex digits are parsed strictly.
//   GITHUB-VERIFY-3  GitHub signs no time, so only `X-GitHub-Delivery` reveals a repeat. A delivery without it is refused. The signature does not
//                    cover headers: an eavesdropper could replay a delivery under another id. Use TLS.
//   GITHUB-VERIFY-4  A verified `ping` is answered and produces no event.
import { type RawRequest, type Verdict, verifyHmac } from '../../sdk/index.ts';
import type { Account } from './config.ts';

const PREFIX = 'sha256=';

/** `ok`, `handshake` for a ping, or `refused` with a reason for the log. The client is not told the reason. */
export function verify(request: RawRequest, { secrets }: Pick<Account, 'secrets'>): Verdict {
  const header = request.headers['x-hub-signature-256'];
  if (header === undefined) return refused('no X-Hub-Signature-256');
  if (!header.startsWith(PREFIX)) return refused('X-Hub-Signature-256 is not sha256=');
  const verdict = verifyHmac(request, { signature: header.slice(PREFIX.length), secrets });
  if (verdict.kind !== 'ok') return verdict;
  if (!/^[!-~]{1,128}$/.test(request.headers['x-github-delivery'] ?? ''))
    return refused('no X-GitHub-Delivery, or one that is malformed');
  if (!/^[a-z_]{1,64}$/.test(request.headers['x-github-event'] ?? ''))
    return refused('no X-GitHub-Event, or one that is malformed');
  return request.headers['x-github-event'] === 'ping'
    ? { kind: 'handshake', answer: { json: { pong: true } } }
    : verdict;
}

const refused = (reason: string): Verdict => ({ kind: 'refused', reason });
