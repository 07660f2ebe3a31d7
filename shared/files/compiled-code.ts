// Keeps the code that V8 compiled beside the bundle, so that the next start need not compile it. From Node 22.1 on that is Node's own compile cache.
// Node 20 has none, so svc keeps the code in a file.
//
//   COMPILED-1  Kept code is used only for the same text, Node and machine, and only if it is whole. V8 itself compares lengths alone.
//               The text is the one that was compiled: packages may be installed anew before its code is kept.
//   COMPILED-2  The code is written once the process is up. So a worker that dies by a signal leaves it too. A folder that takes no files costs only
//               time.
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import nodeModule, { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';
import { SvcError } from '../svc-error.ts';

const FOLDER = '.compile-cache';
const HEAD_BYTES = 8;

interface NodeCache {
  enableCompileCache?(folder: string): unknown;
  flushCompileCache?(): void;
}
const nodeCache = nodeModule as unknown as NodeCache;

/** The module object of a bundle that was loaded here: it lends the bundle an `import()`. */
declare const module: { readonly import?: (specifier: string) => Promise<unknown> } | undefined;

/** `import()` of a file that the bundler cannot know. */
export function importModule(specifier: string): Promise<unknown> {
  const borrowed = typeof module === 'undefined' ? undefined : module.import;
  return borrowed === undefined ? import(specifier) : borrowed(specifier);
}

export interface Program<T> {
  readonly exports: T;
  /** Writes the code that is compiled by now; takes some milliseconds. Never throws. */
  keep(): void;
}

/** Loads a CommonJS bundle. Throws what the bundle throws. */
export function loadProgram<T>(file: string): Program<T> {
  if (nodeCache.enableCompileCache === undefined) return loadFromOwnCache(file);
  nodeCache.enableCompileCache(join(dirname(file), FOLDER));
  const exports = createRequire(file)(file) as T;
  return { exports, keep: () => nodeCache.flushCompileCache?.() };
}

const later = new Map<string, unknown>();
/** What a feature loads in its first moments goes into the cache too. */
const KEEP_AFTER_MS = 1_000;

/**
 * Exports of a bundle beside `file`, loaded once. Throws `restart_required` where it is of another build, and what the bundle throws.
 * @public Imported by code that the build writes (.ci/build/later.ts).
 */
export function loadLater<T>(file: string, name: string, build: string): T {
  if (!later.has(name)) {
    const path = join(dirname(file), name);
    if (!existsSync(path)) throw replaced(path);
    const { exports, keep } = loadProgram<T & { readonly build?: string }>(path);
    if (exports.build !== build) throw replaced(path);
    setTimeout(keep, KEEP_AFTER_MS).unref();
    later.set(name, exports);
  }
  return later.get(name) as T;
}

const replaced = (path: string): SvcError =>
  new SvcError(
    'restart_required',
    `svc was replaced on the disk since this worker began: ${path} is of another build`,
    {
      hint: 'svc runtime restart',
    },
  );

function loadFromOwnCache<T>(file: string): Program<T> {
  const kept = join(dirname(file), FOLDER, `${basename(file)}-${process.version}-${process.arch}`);
  const { script, sum } = compile(file, kept);
  const run = script.runInThisContext() as (...scope: readonly unknown[]) => void;
  // In Node 20 a script made of cached code cannot `import()`: the bundle uses this function. This code may be of such a script itself.
  const loaded = { exports: {} as T, import: importModule };
  run.call(loaded.exports, loaded.exports, createRequire(file), loaded, file, dirname(file));
  let isKept = script.cachedDataRejected === false;
  const keep = (): void => {
    if (!isKept) writeKept(kept, sum, script.createCachedData());
    isKept = true;
  };
  return { exports: loaded.exports, keep };
}

/** Only the script and the checksum of its text outlive the call: text and code are megabytes. */
function compile(file: string, kept: string): { readonly script: Script; readonly sum: number } {
  const bytes = readWrapped(file);
  const sum = sumOf(bytes);
  const cachedData = readKept(kept, sum);
  // The bundle is ASCII: a character takes one byte, in memory too.
  const script = new Script(bytes.toString('latin1'), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
    // For each `import()` of the bundle that does not use `module.import`.
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return { script, sum };
}

/** The text with Node's module wrapper. As a string it would be copied twice. */
function readWrapped(file: string): Buffer {
  const [head = '', tail = ''] = nodeModule.wrap('|').split('|');
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.allocUnsafeSlow(fstatSync(descriptor).size + head.length + tail.length);
    bytes.write(head, 'latin1');
    const room = { offset: head.length, length: bytes.length - head.length - tail.length };
    const end = head.length + readSync(descriptor, bytes, room);
    return bytes.subarray(0, end + bytes.write(tail, end, 'latin1'));
  } finally {
    closeSync(descriptor);
  }
}

/** Only Node 20 needs it. */
const sumOf = (bytes: Buffer): number => process.getBuiltinModule('node:zlib').crc32(bytes, 0);

/** Checksums of text and code. They detect a truncated file and another text of the same length, but no attacker who may write here. */
function headOf(sum: number, code: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(sum, 0);
  head.writeUInt32LE(sumOf(code), 4);
  return head;
}

function readKept(path: string, sum: number): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const code = bytes.subarray(HEAD_BYTES);
    return bytes.subarray(0, HEAD_BYTES).equals(headOf(sum, code)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function writeKept(path: string, sum: number, code: Buffer): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const temporary = `${path}.${process.pid}.tmp`;
    writeFileSync(temporary, Buffer.concat([headOf(sum, code), code]), { mode: 0o600 });
    renameSync(temporary, path);
  } catch {
    // COMPILED-2: a package of another account, a read-only file system, a full disk.
  }
}
