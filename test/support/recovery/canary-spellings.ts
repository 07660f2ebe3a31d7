// Spellings in which a secret may stand in a text.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';

const hex = (text: string): string => Buffer.from(text).toString('hex');
const escapes = (text: string, of: (code: string) => string): string =>
  [...Buffer.from(text)].map((byte) => of(byte.toString(16).padStart(2, '0'))).join('');

export const SPELLINGS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  hex,
  'hex in capitals': (secret) => hex(secret).toUpperCase(),
  base64: (secret) => Buffer.from(secret).toString('base64'),
  base64url: (secret) => Buffer.from(secret).toString('base64url'),
  'base64 of a header': (secret) => Buffer.from(`u:${secret}`).toString('base64'),
  'base64 of a longer text': (secret) => Buffer.from(`bot:${secret} and more`).toString('base64'),
  'a URL': (secret) => escapes(secret, (code) => `%${code}`),
  'a URL in a URL': (secret) => escapes(secret, (code) => `%25${code}`),
  JavaScript: (secret) => escapes(secret, (code) => `\\x${code}`),
  'JSON in JSON': (secret) => JSON.stringify(JSON.stringify(escapes(secret, (code) => `\\u00${code}`))),
  'a list of bytes': (secret) => JSON.stringify([...Buffer.from(secret)]),
};

/** As many secrets as there are spellings, by the names of their variables. */
export function canaries(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.keys(SPELLINGS).map((_, index) => [
      `CANARY_${index}_TOKEN`,
      `canary+/${randomBytes(18).toString('base64url')}`,
    ]),
  );
}

/** Throws where a text holds one of the secrets in one of the spellings. */
export function assertClean(where: string, text: string, secrets: Readonly<Record<string, string>>): void {
  for (const [name, secret] of Object.entries(secrets))
    for (const [spelling, write] of Object.entries(SPELLINGS))
      assert.ok(!text.includes(write(secret)), `${where} has ${name}: ${spelling}`);
}
