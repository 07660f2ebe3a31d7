// What an address means, whatever way it is written: decided by parsing, for `0:0:0:0:0:0:0:1` and `::ffff:127.0.0.1` are this machine too.
import { BlockList, isIP } from 'node:net';

// A list takes an address of IPv4 for its form in IPv6 (`::ffff:…`) as well.
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');
const EVERY = new BlockList();
EVERY.addAddress('0.0.0.0', 'ipv4');
EVERY.addAddress('::', 'ipv6');
/** The first groups of an address of IPv4 as IPv6 writes it. */
const MAPPED = '0:0:0:0:0:ffff';

/** An address of this machine alone: 127.0.0.0/8, ::1, and 127.0.0.0/8 as IPv6 writes it. False for names. */
export const isLoopback = (address: string): boolean => isIn(LOOPBACK, address);

/** The address that stands for all addresses of this machine. */
export const isEveryAddress = (address: string): boolean => isIn(EVERY, address);

/** The same for what names a host: localhost, and addresses as URLs (`[::1]`) and resolvers (`127.1`) take them. */
export function isLoopbackHost(host: string): boolean {
  const name = addressOf(host) ?? host.toLowerCase();
  return name === 'localhost' || name === 'localhost.' || isLoopback(name);
}

/** The address that a text stands for where it is no literal but read as one: `127.1`, `[::1]`. Undefined for names. */
export function addressOf(host: string): string | undefined {
  if (isIP(host) !== 0) return host;
  if (!/^(?:[\da-fx.]+|\[[\da-f:.]+\])$/i.test(host) || !URL.canParse(`http://${host}`)) return undefined;
  const address = new URL(`http://${host}`).hostname.replace(/^\[|\]$/g, '');
  return isIP(address) === 0 ? undefined : address;
}

/**
 * Whose address it is, for counting: of IPv6 the network of 64 bits, since whoever has one address of it has all; of IPv4, as IPv6 writes it
 * too, the address. A text that is no address stands for itself.
 */
export function clientOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const plain = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1); // one spelling, in groups alone
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
