// Signatures of GitHub: `X-Hub-Signature-256: sha256=<hex>`, HMAC-SHA256 over the raw body. Pure.
//
//   G1  The SHA-1 header (`X-Hub-Signature`) is not read: a delivery that has it alone is refused.
//   G2  Every secret is compared, in constant time, with strictly read hex digits (verifyHmac).
//   G3  GitHub signs no time: a repeat is known by `X-GitHub-Delivery` alone, so a delivery without it is refused. The headers are
//       outside of the signature: who can read a delivery on its way could repeat it under another id. Take deliveries over TLS.
//   G4  A verified `ping` is answered and is no arrival.
import { type RawRequest, type Verdict, verifyHmac } from '../../sdk/index.ts';
import type { Account } from './config.ts';

const PREFIX = 'sha256=';

/** `ok`, `handshake` for a ping, or `refused` with a reason for the log: the client is told nothing of it. */
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
