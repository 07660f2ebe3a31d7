// dist/: the only writer of it. Knows what the current build wrote, so that what an earlier one left can be swept.
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const DIST = join(ROOT, 'dist');
const KEPT_MS = 3_600_000;

export class Output {
  readonly #written = new Set<string>();
  bytes = 0;

  get count(): number {
    return this.#written.size;
  }

  /** Writes a file of dist/ by its path below it; leaves one alone that has this content already. */
  write(name: string, content: Uint8Array | string, { executable = false } = {}): void {
    const path = join(DIST, name);
    const bytes = Buffer.from(content);
    this.#written.add(path);
    this.bytes += bytes.length;
    if (current(path)?.equals(bytes) === true) return;
    mkdirSync(dirname(path), { recursive: true });
    const temporary = `${path}.${process.pid}.tmp`;
    writeFileSync(temporary, bytes);
    if (executable) chmodSync(temporary, 0o755);
    renameSync(temporary, path);
  }

  /** Removes what this build did not write and nobody can still be loading. */
  sweep(): void {
    for (const entry of readdirSync(DIST, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || this.#written.has(path)) continue;
      if (Date.now() - statSync(path).mtimeMs > KEPT_MS) rmSync(path, { force: true });
    }
  }
}

function current(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
