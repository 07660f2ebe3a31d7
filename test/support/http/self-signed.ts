// A self-signed certificate for 127.0.0.1 and localhost, made in memory: keys and certificates are no files of this repository.
import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

export interface SelfSigned {
  readonly key: string;
  readonly cert: string;
}

const DAY_MS = 86_400_000;

/** ECDSA on P-256, valid from yesterday until tomorrow. */
export function selfSigned(commonName = 'irc.test.local'): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302')); // ecdsa-with-SHA256
  const name = sequence(tag(0x31, sequence(oid('550403'), tag(0x0c, Buffer.from(commonName)))));
  const now = Date.now();
  const address = tag(0x87, Buffer.from([127, 0, 0, 1]));
  const host = tag(0x82, Buffer.from('localhost'));
  const subjectAltName = sequence(oid('551d11'), tag(0x04, sequence(address, host)));
  const body = sequence(
    tag(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(now - DAY_MS), time(now + DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tag(0xa3, sequence(subjectAltName)),
  );
  const signature = createSign('sha256').update(body).sign(privateKey);
  const certificate = sequence(body, algorithm, tag(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}

function tag(number: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([number, ...size]), content]);
}
const sequence = (...parts: readonly Buffer[]): Buffer => tag(0x30, Buffer.concat(parts));
const integer = (bytes: Buffer): Buffer => tag(0x02, bytes);
const oid = (hex: string): Buffer => tag(0x06, Buffer.from(hex, 'hex'));
const time = (at: number): Buffer => {
  const digits = new Date(at).toISOString().replace(/\D/g, '');
  return tag(0x17, Buffer.from(`${digits.slice(2, 14)}Z`));
};
