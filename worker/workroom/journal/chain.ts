// The hash chain of the journal, which `sha256sum` can check by hand.
//
//   digest  SHA-256 of the canonical JSON (sorted keys, no blanks) of {actor, at, cause, data, id, kind, stream, v: 1, version}
//   hash    SHA-256 of four lines joined by LF, none at the end: svc.journal/1, the hash before, seq, digest
//   before the first event stands SHA-256 of `svc.journal/1` LF project id
//
// Words of people are not hashed: `data` holds SHA-256 of salt and text. They can be erased, and the chain still holds.
import { hash } from 'node:crypto';

export const CHAIN_MARK = 'svc.journal/1';

export interface ChainedEvent {
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly kind: string;
  readonly at: number;
  readonly actor: string;
  readonly cause: string | null;
  /** Canonical JSON. */
  readonly data: string;
}

export const sha256 = (text: string): string => hash('sha256', text, 'hex');

export const hashBeforeFirst = (projectId: string): string => sha256(`${CHAIN_MARK}\n${projectId}`);

export const chainHash = (before: string, seq: number, digest: string): string =>
  sha256(`${CHAIN_MARK}\n${before}\n${seq}\n${digest}`);

export function digestOf({ actor, at, cause, data, id, kind, stream, version }: ChainedEvent): string {
  // Keys in sorted order; `data` is canonical already.
  return sha256(
    `{"actor":${quoted(actor)},"at":${at},"cause":${cause === null ? 'null' : quoted(cause)},"data":${data},"id":${quoted(id)},"kind":${quoted(kind)},"stream":${quoted(stream)},"v":1,"version":${version}}`,
  );
}

/** JSON escapes nothing of such a text, and most are. The test costs half of what `JSON.stringify` does. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
/** The JSON of a text. */
export const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));

/** JSON with sorted keys and without blanks. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const object = value as Readonly<Record<string, unknown>>;
  let json = '';
  for (const key of Object.keys(object).sort()) {
    const one = object[key];
    if (one !== undefined) json += `${json === '' ? '' : ','}${quoted(key)}:${canonicalJson(one)}`;
  }
  return `{${json}}`;
}

export interface SealedText {
  readonly salt: string;
  readonly text: string;
}
/** What stands in `data` for a text. */
export const textDigest = ({ salt, text }: SealedText): string => sha256(salt + text);
