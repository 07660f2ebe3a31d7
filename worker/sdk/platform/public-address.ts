// Which addresses named by strangers the host may call: none that leads into our own network.
//
//   PUBLIC-ADDRESS-1  A name is looked up once, and the checked address is the one connected to. A DNS answer cannot change in between.
import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

export { isLoopbackHost } from '../../../shared/ip-address.ts';

// One list for each family, because a BlockList matches an IPv4 address also in its IPv6 form.
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
// All of IPv6 outside global unicast, and those parts of global unicast that map to IPv4 or are reserved.
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

/** A `lookup` option for requests that refuses private addresses. Node does not call it for a literal IP address. */
export const lookupPublic: LookupFunction = (name, options, done) => {
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
