// Which addresses of files may be called: those that strangers name must not lead into our own network.
//
//   A1  https to public addresses. A host in `fileHosts` may be private and may speak plain http.
//   A2  The address that was looked at is the one that is connected to: a name cannot be another one a moment later.
import { isIP, type LookupFunction } from 'node:net';
import { isPublic, lookupPublic } from '../../../sdk/platform/public-address.ts';

/** Why this address may not be called; undefined when it may. */
export function addressFault(url: URL, fileHosts: readonly string[]): string | undefined {
  const host = hostOf(url);
  const isTrusted = fileHosts.some((known) => known.toLowerCase() === host || known.toLowerCase() === url.host);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isTrusted)) return 'it is not https';
  if (url.username !== '' || url.password !== '') return 'it holds credentials';
  if (!isTrusted && isIP(host) !== 0 && !isPublic(host)) return 'its address is private';
  return undefined;
}

/** For the request to it (A2). */
export function guardedLookup(url: URL, fileHosts: readonly string[]): LookupFunction | undefined {
  const host = hostOf(url);
  if (fileHosts.some((known) => known.toLowerCase() === host || known.toLowerCase() === url.host)) return undefined;
  return lookupPublic;
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
