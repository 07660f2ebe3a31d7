// The files of the page, held in memory by name. A request can only name a file that was found when the folder was read,
// so no path of a request ever reaches the file system. Read at the first request; read again after a new build
// (index.html changed), looked for at most once a second. No folder: no files.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

export interface StaticFile {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly contentType: string;
  /** Its name holds a hash of its content: it never changes. */
  readonly isHashed: boolean;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};
const HASHED = /[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;
const LOOK_AGAIN_MS = 1_000;

export class StaticFiles {
  readonly #folder: string | undefined;
  #files: ReadonlyMap<string, StaticFile> = new Map();
  #builtAt: number | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** The file of that name (`index.html`, `assets/page-5f2c91ab.js`), or undefined. */
  find(name: string): StaticFile | undefined {
    this.#look();
    return this.#files.get(name);
  }

  #look(): void {
    if (this.#folder === undefined || performance.now() - this.#lookedAt < LOOK_AGAIN_MS) return;
    this.#lookedAt = performance.now();
    const builtAt = statSync(join(this.#folder, 'index.html'), { throwIfNoEntry: false })?.mtimeMs;
    if (builtAt === this.#builtAt) return;
    this.#builtAt = builtAt;
    this.#files = builtAt === undefined ? new Map() : readFolder(this.#folder);
  }
}

/** Regular files with a known ending; source maps and dot files stay unserved. */
function readFolder(folder: string): ReadonlyMap<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const contentType = CONTENT_TYPES[extname(entry.name)];
    if (!entry.isFile() || contentType === undefined || entry.name.startsWith('.')) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
    const isHashed = entry.name !== 'index.html' && HASHED.test(entry.name);
    files.set(relative(folder, path).split(sep).join('/'), { bytes, etag, contentType, isHashed });
  }
  return files;
}
