// Archives of checkpoints as bytes, put together by hand: also those that no program would write.
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { MANIFEST_FORMAT, type Manifest } from '../../../shared/recovery/manifest.ts';

export interface Entry {
  readonly path: string;
  readonly content?: string | Uint8Array;
  /** Type flag of the header; a regular file unless given. */
  readonly type?: string;
  readonly link?: string;
  /** Size in the header, where it is not that of the content. */
  readonly size?: number;
}

const BLOCK = 512;

export function tarEntry({ path, content = '', type = '0', link = '', size }: Entry): Buffer {
  const body = Buffer.from(content as string);
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0, 100, 'utf8');
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${(size ?? body.length).toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write(type, 156);
  header.write(link, 157, 100, 'utf8');
  header.write('ustar\u000000', 257);
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)]);
}

export const END = Buffer.alloc(2 * BLOCK);
export const archiveOf = (entries: readonly Entry[], end: Buffer = END): Buffer =>
  gzipSync(Buffer.concat([...entries.map(tarEntry), end]));

/** An extended header that gives the next entry this key. */
export function paxEntry(key: string, value: string): Entry {
  const rest = ` ${key}=${value}\n`;
  let length = rest.length + 1;
  while (`${length}${rest}`.length !== length) length = `${length}${rest}`.length;
  return { path: 'PaxHeader', type: 'x', content: `${length}${rest}` };
}

const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** A manifest with these parts; the rest is that of an empty project. */
export function manifestOf(parts: readonly Entry[], change: Readonly<Record<string, unknown>> = {}): string {
  const manifest: Manifest = {
    format: MANIFEST_FORMAT,
    id: 'made-by-hand',
    name: 'c7',
    project: 'elsewhere',
    createdAt: '2027-01-05T02:00:00.000Z',
    reason: null,
    svc: '0.1.0',
    node: '24.0.0',
    tz: { zone: 'UTC', tzdata: '' },
    commit: null,
    lockfile: null,
    config: { version: 'sha256:0', sha256: sha256(''), isRunning: false },
    schema: { migrations: [] },
    database: { dialect: 'sqlite', rows: {} },
    events: { epoch: 'aaaaaaaaaaaaaaaa', head: 0, oldest: 1 },
    generation: 0,
    journal: null,
    catalog: null,
    jobs: { count: 0, revision: 0, targets: [] },
    open: { inbox: 0, outbox: 0 },
    files: { count: 0, bytes: 0 },
    secrets: [],
    parts: parts.map(({ path, content = '' }) => ({
      path,
      bytes: Buffer.from(content as string).length,
      sha256: sha256(content),
    })),
  };
  return JSON.stringify({ ...manifest, ...change });
}

/** An archive whose manifest names these parts. */
export const honestArchive = (parts: readonly Entry[]): Buffer =>
  archiveOf([{ path: 'manifest.json', content: manifestOf(parts) }, ...parts]);
