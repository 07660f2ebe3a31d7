// Branded identifiers and their text forms, so that the compiler rejects an id of another kind.
import { randomBytes, randomUUID } from 'node:crypto';

type Brand<T, B extends string> = T & { readonly '~brand': B };

export type RuntimeId = Brand<string, 'RuntimeId'>;
export type ProjectId = Brand<string, 'ProjectId'>;
export type Epoch = Brand<string, 'Epoch'>;
/** `<owner>:<name>`, for example `root/irc:irc~libera`. Names an endpoint in events, metrics, logs and references. */
export type EndpointId = Brand<string, 'EndpointId'>;
/** `root/<slot>#<kind>/<name>`, for example `root/remind#command/remind`. */
export type CapabilityId = Brand<string, 'CapabilityId'>;

/** A UUIDv7 (RFC 9562, section 5.7): 48 bits of time, then random bits. Sorts by creation time. */
export function uuidv7(now: number = Date.now()): string {
  // Random bits from a version 4 UUID, which Node generates in bulk: `xxxxxxxx-xxxx-4xxx-…`. The rest of it has the right variant.
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

export const newRuntimeId = (now?: number): RuntimeId => uuidv7(now) as RuntimeId;
export const newProjectId = (): ProjectId => randomUUID() as ProjectId;

const EPOCH_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** A new epoch of the event history: 16 characters of [a-z0-9], about 82 random bits. */
export function newEpoch(): Epoch {
  let text = '';
  while (text.length < 16) {
    for (const byte of randomBytes(32)) {
      if (byte < 252 && text.length < 16) text += EPOCH_ALPHABET[byte % 36] ?? '';
    }
  }
  return text as Epoch;
}

export const ownerOf = (slot: string): string => `root/${slot}`;
/** Name of an account: `<slot>~<id>` if it comes from `endpoints[]`, else `<slot>`. */
export const endpointName = (slot: string, id: string | undefined): string =>
  id === undefined ? slot : `${slot}~${id}`;
export const endpointId = (owner: string, name: string): EndpointId => `${owner}:${name}` as EndpointId;
export const capabilityId = (slot: string, kind: string, name: string): CapabilityId =>
  `${ownerOf(slot)}#${kind}/${name}` as CapabilityId;
/**
 * The id as shown with demo scope. The id of an unnamed listener ends in a digest of what it listens for.
 * That may be a short configuration value, which a reader could guess, so the digest is removed.
 */
export const capabilityForDemo = (id: string): string => id.replace(/(#on\/[a-z_]+)-[0-9a-f]{8}(?=$|~)/, '$1');
