// edge.forwarded: what the host takes for the address of a client that says it has another one.
import { isLoopback } from '../../../../shared/ip-address.ts';
import { type Edge, type Finding, fault, ok, skip } from '../check.ts';
import { ask } from './edge-request.ts';

/** Of TEST-NET-1, which nobody has. */
const FORGED = '192.0.2.77';

export async function forwarded(edge: Edge): Promise<Finding> {
  const { status, text, localAddress } = await ask(edge, {
    method: 'POST',
    path: '/api/system/echo',
    body: Buffer.alloc(0),
    headers: { 'x-forwarded-for': FORGED, 'x-real-ip': FORGED, forwarded: `for=${FORGED}` },
  });
  if (status !== 200) return fault(`an echo answered with ${status}`, 'svc doctor --only edge.auth,edge.body');
  const address = addressIn(text);
  return address === undefined
    ? skip('this host is older, and does not tell the address')
    : forwardedFinding(address, localAddress);
}

/** Pure. `localAddress` is this machine's on the connection to the proxy. */
export function forwardedFinding(address: string, localAddress: string): Finding {
  if (address === FORGED)
    return fault(
      'the host believes an address that a client wrote into X-Forwarded-For',
      'nginx: proxy_set_header X-Forwarded-For $remote_addr; HAProxy: http-request del-header X-Forwarded-For before option forwardfor',
    );
  // A proxy on the host's machine reaches it over loopback, and so seems every client of that proxy.
  return isLoopback(address) && !isLoopback(localAddress)
    ? fault(
        `the host takes every client for its proxy (${address}): its limits by address do not hold`,
        `http.trustedProxies: [${address}] in svc.config.yml, then svc runtime reload`,
      )
    : ok(`a forged address is replaced: the host sees ${address}`);
}

function addressIn(text: string): string | undefined {
  try {
    const { address } = JSON.parse(text) as { readonly address?: unknown };
    return typeof address === 'string' ? address : undefined;
  } catch {
    return undefined;
  }
}
