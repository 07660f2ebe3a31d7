// Classifies IP addresses in any notation. `0:0:0:0:0:0:0:1` and `::ffff:127.0.0.1` are loopback, too.
import { BlockList, isIP } from 'node:net';

// A BlockList with an IPv4 address also matches its IPv6 form (`::ffff:…`).
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');
const EVERY = new BlockList();
EVERY.addAddress('0.0.0.0', 'ipv4');
EVERY.addAddress('::', 'ipv6');
/** Prefix of an IPv4 address in IPv6 notation. */
const MAPPED = '0:0:0:0:0:ffff';

/** A loopback address: 127.0.0.0/8, also in IPv6 notation, or ::1. False for names. */
export const isLoopback = (address: string): boolean => isIn(LOOPBACK, address);

/** The unspecified address, which stands for all addresses of this machine. */
export const isEveryAddress = (address: string): boolean => isIn(EVERY, address);

/** Like `isLoopback` for hosts: also accepts localhost and addresses as URLs (`[::1]`) and resolvers (`127.1`) write them. */
export function isLoopbackHost(host: string): boolean {
  const name = addressOf(host) ?? host.toLowerCase();
  return name === 'localhost' || name === 'localhost.' || isLoopback(name);
}

/** Normalizes an address that is no IP literal but works as one: `127.1`, `[::1]`. Undefined for names. */
export function addressOf(host: string): string | undefined {
  if (isIP(host) !== 0) return host;
  if (!/^(?:[\da-fx.]+|\[[\da-f:.]+\])$/i.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  const address = new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '');
  return isIP(address) === 0 ? undefined : address;
}

/**
 * Key that identifies a client for counting. For IPv6 it is the /64 network, since a client has all its addresses.
 * For IPv4, also in IPv6 notation, it is the address. Other text is returned as it is.
 */
export function clientOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const plain = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1); // normalized: hexadecimal groups only
  const [head = '', tail] = plain.split('::');
  const [before, after] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [
    string[],
    string[],
  ];
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return groups.slice(0, 6).join(':') === MAPPED
    ? [high >> 8, high & 255, low >> 8, low & 255].join('.')
    : `${groups.slice(0, 4).join(':')}::/64`;
}

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
