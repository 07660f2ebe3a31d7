// Encryption of archives by age (age-encryption.org/v1). The library is loaded only by an export or import that needs it.
import { createReadStream } from 'node:fs';
import { ReadableStream } from 'node:stream/web';
import { messageOf, SvcError } from '../../../shared/svc-error.ts';
import { refusedArchive } from './tar-reader.ts';

/** For an export: a passphrase, or keys `age1…` of which each alone opens the archive. */
export type Lock =
  | {
      readonly passphrase: string;
      /** Base-2 logarithm of scrypt's work; default 18, a second of work. Tests take less. */
      readonly workFactor?: number;
    }
  | { readonly recipients: readonly string[] };
/** For an import. `identities` are lines `AGE-SECRET-KEY-1…`. */
export type Key = { readonly passphrase: string } | { readonly identities: readonly string[] };

const BEGIN = 'age-encryption.org/';
const ARMOR = '-----BEGIN AGE';
const SHORTEST_PASSPHRASE = 10;

/** Throws `invalid_request` for a passphrase or a recipient that cannot be taken. */
export async function encrypted(source: AsyncIterable<Buffer>, lock: Lock): Promise<AsyncIterable<Buffer>> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  if ('passphrase' in lock) {
    if (lock.passphrase.length < SHORTEST_PASSPHRASE)
      throw new SvcError('invalid_request', `the passphrase has under ${SHORTEST_PASSPHRASE} characters`, {
        hint: 'Whoever has the archive can try passphrases without end. Take four random words or more.',
      });
    encrypter.setPassphrase(lock.passphrase);
    if (lock.workFactor !== undefined) encrypter.setScryptWorkFactor(lock.workFactor);
  } else
    for (const recipient of lock.recipients)
      try {
        encrypter.addRecipient(recipient);
      } catch (error) {
        throw new SvcError('invalid_request', `the recipient is no key of age: ${messageOf(error)}`, {
          hint: '`age-keygen -o key.txt` makes a key and prints its public part: age1…',
        });
      }
  return chunksOf(await encrypter.encrypt(webStream(source)));
}

export type Sealed = 'plain' | 'age' | 'armor';

/** What the file is, by its first bytes. */
export async function sealOf(file: string): Promise<Sealed> {
  let begin = '';
  for await (const chunk of createReadStream(file, { end: BEGIN.length }))
    begin += (chunk as Buffer).toString('latin1');
  if (begin.startsWith(ARMOR)) return 'armor';
  return begin.startsWith(BEGIN) ? 'age' : 'plain';
}

/** Throws `archive_refused`: a wrong key, or a file that was changed. */
export async function* decrypted(source: AsyncIterable<Buffer>, key: Key): AsyncGenerator<Buffer> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  try {
    if ('passphrase' in key) decrypter.addPassphrase(key.passphrase);
    else for (const identity of key.identities) decrypter.addIdentity(identity);
  } catch (error) {
    throw new SvcError('invalid_request', `the identity is no key of age: ${messageOf(error)}`, {
      hint: 'The file holds a line AGE-SECRET-KEY-1…, as `age-keygen` writes it.',
    });
  }
  try {
    yield* chunksOf(await decrypter.decrypt(webStream(source)));
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw refusedArchive(`it cannot be decrypted (${messageOf(error)}): another key, or the file was changed`, error);
  }
}

async function* chunksOf(stream: globalThis.ReadableStream<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>)
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}

const webStream = (source: AsyncIterable<Buffer>): globalThis.ReadableStream<Uint8Array<ArrayBuffer>> =>
  ReadableStream.from(source) as never;
