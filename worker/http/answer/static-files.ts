// Files of the chat page, held in memory by name. Only names found in the folder match, so no request path reaches the file system.
// Read at the first request, and again after a new build (a changed index.html), checked once a second at most. Without a folder there are
// no files.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';

export interface StaticFile {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly contentType: string;
  /** The name contains a hash of the content, so the content never changes. */
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

/** Regular files with a known extension. Source maps and dot files are not served. */
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
