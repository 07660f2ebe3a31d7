// Signed links to stored files, for platforms that take no files. The holder of a link can read the file until the link expires.
//
//   FILE-LINKS-1  A link holds the file's digest, its name, when it expires, and an HMAC over the three. Nothing else of a link is trusted.
//   FILE-LINKS-2  The key is made once, lies in `.svc/` alone and belongs in no backup. Without the key all links are invalid, and nothing else is.
//   FILE-LINKS-3  Links exist only if people can reach the host: at `http.publicUrl`, or at the address of the chat page.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import type { LoadedConfig } from '../../shared/config/load.ts';
import { writeFileAtomic } from '../../shared/files/atomic-file.ts';
import { readOwnFile } from '../../shared/files/own-file.ts';
import { SvcError } from '../../shared/svc-error.ts';
import type { Clock } from '../../shared/time/clock.ts';
import type { FileRef } from '../sdk/index.ts';

/** The parts of a requested link, unchecked. */
export interface FileLink {
  readonly id: string;
  readonly name: string | undefined;
  readonly expires: string | undefined;
  readonly signature: string | undefined;
}

type Config = LoadedConfig['config'];

const KEY_BYTES = 32;
const LONGEST_NAME = 100;
const DIGEST = /^[0-9a-f]{64}$/;
const SECONDS = /^[1-9]\d{9,11}$/;
const SIGNATURE = /^[A-Za-z0-9_-]{43}$/;

export class FileLinks {
  readonly #clock: Clock;
  readonly #readKey: () => Buffer;
  #key: Buffer | undefined;

  constructor(clock: Clock, readKey: () => Buffer) {
    this.#clock = clock;
    this.#readKey = readKey;
  }

  /** Undefined if the host has no public address (FILE-LINKS-3), and for a file that is not stored here. */
  urlOf(file: FileRef, { config, adapter }: { readonly config: Config; readonly adapter: string }): string | undefined {
    const address = addressFor(config, adapter);
    if (address === undefined || !DIGEST.test(file.id)) return undefined;
    const name = plainName(file.name);
    const expires = String(Math.floor(this.#clock.now() / 1_000) + config.files.linkHours * 3_600);
    const signature = this.#sign({ id: file.id, name, expires }).toString('base64url');
    return `${address}/files/${file.id}?${new URLSearchParams({ name, expires, signature }).toString()}`;
  }

  /** Throws `link_invalid` or `link_expired`; otherwise this host has signed id and name. */
  verify({ id, name, expires, signature }: FileLink): { readonly id: string; readonly name: string } {
    const isWellFormed =
      DIGEST.test(id) && name !== undefined && SECONDS.test(expires ?? '') && SIGNATURE.test(signature ?? '');
    if (!isWellFormed) throw invalid();
    const wanted = this.#sign({ id, name, expires: expires ?? '' });
    const given = Buffer.from(signature ?? '', 'base64url');
    // The decoder accepts several spellings of the same bytes: only the canonical one is valid.
    if (given.toString('base64url') !== signature || !timingSafeEqual(given, wanted)) throw invalid();
    if (Number(expires) * 1_000 <= this.#clock.now())
      throw new SvcError('link_expired', 'this link has expired', { hint: 'ask the bot for the file again' });
    return { id, name };
  }

  #sign(of: { readonly id: string; readonly name: string; readonly expires: string }): Buffer {
    this.#key ??= this.#readKey();
    return createHmac('sha256', this.#key)
      .update(JSON.stringify(['svc-file-link', of.id, of.expires, of.name]))
      .digest();
  }
}

/** The key in that file. Made at the first use, and made anew if the file holds no key. */
export function linkKeyIn(path: string): Buffer {
  const known = readKey(path);
  if (known !== undefined) return known;
  const key = randomBytes(KEY_BYTES);
  try {
    writeFileAtomic(path, `${key.toString('base64url')}\n`);
  } catch (error) {
    throw new SvcError('storage_unavailable', `the key of file links cannot be stored in ${path}`, { cause: error });
  }
  return key;
}

function readKey(path: string): Buffer | undefined {
  try {
    const key = Buffer.from(readOwnFile(path).trim(), 'base64url');
    return key.length === KEY_BYTES ? key : undefined;
  } catch {
    return undefined; // not made yet
  }
}

/** The address at which people open links of this account. */
function addressFor({ http }: Config, adapter: string): string | undefined {
  if (http.publicUrl !== undefined) return `${http.publicUrl.replace(/\/$/, '')}${http.base}`;
  const isEverywhere = isIP(http.host) === 0 || /^[0:.]+$/.test(http.host);
  if (adapter !== 'sandbox' || isEverywhere) return undefined;
  return `http://${isIPv6(http.host) ? `[${http.host}]` : http.host}:${http.port}${http.base}`;
}

/** One line, without control characters and without marks that change the direction of text. */
function plainName(name: string): string {
  const letters = Array.from(name.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, '').replace(/[\\/]/g, '_'));
  return letters.slice(-LONGEST_NAME).join('').trim() || 'file';
}

const invalid = (): SvcError => new SvcError('link_invalid', 'this link is not one of this host');
