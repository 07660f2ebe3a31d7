// Configuration of one webhook account and the rules for its secrets.
//
//   plugins:
//     webhook:
//       endpoints:
//         - id: shop
//           url: https://shop.example/bot          # address for outgoing messages; without it nothing can be sent
//           secrets: ['${SHOP_SECRET}']            # whsec_ and base64 of 24 to 64 bytes; several during a rotation
import { type Secret, t, type Values } from '../../sdk/index.ts';

export const account = {
  url: t.optional(t.string({ description: 'Where messages are posted, http or https' })),
  secrets: t.array(t.secret(), {
    minItems: 1,
    description: 'whsec_ and base64; each one verifies, and signs what is sent unless outgoingSecrets are given',
  }),
  outgoingSecrets: t.optional(
    t.array(t.secret(), { minItems: 1, description: 'Sign what is sent, when the other side has secrets of its own' }),
  ),
  fileHosts: t.optional(
    t.array(t.string({ minLength: 1 }), {
      description: 'Hosts of files that may have a private address or speak plain HTTP; that of url is one',
    }),
  ),
};
export type Account = Values<typeof account>;

const PREFIX = 'whsec_';
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

const keys = new WeakMap<Secret, { readonly key: Buffer | undefined }>();

/** The secret's key. Undefined if it is not `whsec_` and strict base64 of 24 to 64 bytes. */
export function keyOf(secret: Secret): Buffer | undefined {
  let known = keys.get(secret);
  if (known === undefined) {
    known = { key: readKey(secret) };
    keys.set(secret, known);
  }
  return known.key;
}

function readKey(secret: Secret): Buffer | undefined {
  const text = secret.reveal();
  if (!text.startsWith(PREFIX)) return undefined;
  const key = strictBase64(text.slice(PREFIX.length));
  return key !== undefined && key.length >= MIN_KEY_BYTES && key.length <= MAX_KEY_BYTES ? key : undefined;
}

/** Decodes canonical base64 with padding. Undefined for anything that only a lenient decoder accepts. */
export function strictBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}

/** Reason why this account cannot work at all, with its remedy. */
export function accountFault({
  url,
  secrets,
  outgoingSecrets = [],
}: Account): { readonly reason: string; readonly remedy: string } | undefined {
  if ([...secrets, ...outgoingSecrets].some((secret) => keyOf(secret) === undefined)) {
    return {
      reason: 'a secret is not whsec_ and base64 of 24 to 64 bytes',
      remedy: 'make one: echo "whsec_$(openssl rand -base64 32)", put it into .env and reload',
    };
  }
  if (url !== undefined && !isWebAddress(url))
    return { reason: 'url is not an http or https address', remedy: 'correct url in svc.config.yml and reload' };
  return undefined;
}

function isWebAddress(url: string): boolean {
  try {
    const { protocol, username, password } = new URL(url);
    return (protocol === 'http:' || protocol === 'https:') && username === '' && password === '';
  } catch {
    return false;
  }
}
