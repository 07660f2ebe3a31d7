// Which addresses of files may be called: those that strangers name must not lead into our own network.
//
//   A1  https to public addresses. A host in `fileHosts` may be private and may speak plain http.
//   A2  The address that was looked at is the one that is connected to: a name cannot be another one a moment later.
import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

// One list each: a list takes an address of IPv4 for its form in IPv6 as well.
const PRIVATE_4 = new BlockList();
const PRIVATE_6 = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  PRIVATE_4.addSubnet(net, prefix, 'ipv4');
// All of IPv6 that is not global unicast, and the parts of that which lead to IPv4 or nowhere.
for (const [net, prefix] of [
  ['::', 3],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['4000::', 2],
  ['8000::', 1],
] as const)
  PRIVATE_6.addSubnet(net, prefix, 'ipv6');

export function isPublic(address: string): boolean {
  const family = isIP(address);
  return family === 4 ? !PRIVATE_4.check(address) : family === 6 && !PRIVATE_6.check(address, 'ipv6');
}

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
  return (name, options, done) => {
    lookup(name, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, '', 0);
      const fault = found.find(({ address }) => !isPublic(address));
      const [first] = found;
      if (fault !== undefined || first === undefined)
        return done(Object.assign(new Error('its address is private'), { code: 'EADDRNOTAVAIL' }), '', 0);
      if (options.all === true) done(null, [...found]);
      else done(null, first.address, first.family);
    });
  };
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
