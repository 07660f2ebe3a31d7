// Checks which file addresses may be requested. An address from a stranger must not lead into our own network.
//
//   XMPP-ADDRESSES-1  https to public addresses is allowed. A host in `fileHosts` may be private and use http.
//   XMPP-ADDRESSES-2  The connection uses the very address that was checked, so a changing DNS answer cannot bypass the check.
import { isIP, type LookupFunction } from 'node:net';
import { isPublic, lookupPublic } from '../../../sdk/platform/public-address.ts';

/** Reason why this address may not be requested. Undefined if it may. */
export function addressFault(url: URL, fileHosts: readonly string[]): string | undefined {
  const host = hostOf(url);
  const isTrusted = fileHosts.some((known) => known.toLowerCase() === host || known.toLowerCase() === url.host);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isTrusted)) return 'it is not https';
  if (url.username !== '' || url.password !== '') return 'it holds credentials';
  if (!isTrusted && isIP(host) !== 0 && !isPublic(host)) return 'its address is private';
  return undefined;
}

/** DNS lookup that allows only public addresses, for the request itself. Undefined for a trusted host. */
export function guardedLookup(url: URL, fileHosts: readonly string[]): LookupFunction | undefined {
  const host = hostOf(url);
  if (fileHosts.some((known) => known.toLowerCase() === host || known.toLowerCase() === url.host)) return undefined;
  return lookupPublic;
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
