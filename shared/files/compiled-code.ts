// The code that V8 compiled at an earlier start, kept beside the bundle, so that a start need not compile it again: Node's own compile
// cache where there is one (from 22.1), else (Node 20) a file of ours, because there nothing keeps the code of a script but its owner.
//
//   K1  Kept code is used only for the very text, Node and machine that it was made of, and only whole: V8 itself compares lengths alone.
//   K2  It is written once up, so that a worker that dies by a signal leaves it too; and a folder that takes no files costs nothing but time.
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs';
import nodeModule, { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';

const FOLDER = '.compile-cache';
const HEAD_BYTES = 8;

interface NodeCache {
  enableCompileCache?(folder: string): unknown;
  flushCompileCache?(): void;
}
const nodeCache = nodeModule as unknown as NodeCache;

/** Of a bundle that was loaded here: its own loader, which lends it `import()`. */
declare const module: { readonly import?: (specifier: string) => Promise<unknown> } | undefined;

/** `import()` of a file that no bundler can know. */
export function importModule(specifier: string): Promise<unknown> {
  const borrowed = typeof module === 'undefined' ? undefined : module.import;
  return borrowed === undefined ? import(specifier) : borrowed(specifier);
}

export interface Program<T> {
  readonly exports: T;
  /** Keeps what is compiled by now; takes some milliseconds. Never throws. */
  keep(): void;
}

/** Loads a CommonJS bundle. Throws what it throws. */
export function loadProgram<T>(file: string): Program<T> {
  if (nodeCache.enableCompileCache === undefined) return loadFromOwnCache(file);
  nodeCache.enableCompileCache(join(dirname(file), FOLDER));
  const exports = createRequire(file)(file) as T;
  return { exports, keep: () => nodeCache.flushCompileCache?.() };
}

function loadFromOwnCache<T>(file: string): Program<T> {
  const kept = join(dirname(file), FOLDER, `${basename(file)}-${process.version}-${process.arch}`);
  const script = compile(file, kept);
  const run = script.runInThisContext() as (...scope: readonly unknown[]) => void;
  // A script that is made of kept code forgets how to import (Node 20): the bundle does it through here.
  const loaded = { exports: {} as T, import: (specifier: string): Promise<unknown> => import(specifier) };
  run.call(loaded.exports, loaded.exports, createRequire(file), loaded, file, dirname(file));
  let isKept = script.cachedDataRejected === false;
  const keep = (): void => {
    if (!isKept) writeKept(kept, readWrapped(file), script.createCachedData());
    isKept = true;
  };
  return { exports: loaded.exports, keep };
}

/** Nothing here outlives the call but the script: text and code are megabytes. */
function compile(file: string, kept: string): Script {
  const bytes = readWrapped(file);
  const cachedData = readKept(kept, bytes);
  // The bundle is ASCII: a byte a character, in memory too.
  return new Script(bytes.toString('latin1'), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
    // For what the bundle does not ask `module.import`: see .ci/build/programs.ts.
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
}

/** The text as Node would run it. Put together as a string it would be copied twice. */
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

/** Sums of text and code: what they guard against is a file cut short and a text of the same length, not somebody who may write here. */
function headOf(text: Buffer, code: Buffer): Buffer {
  const { crc32 } = process.getBuiltinModule('node:zlib'); // nobody but Node 20 needs it
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(crc32(text, 0), 0);
  head.writeUInt32LE(crc32(code, 0), 4);
  return head;
}

function readKept(path: string, text: Buffer): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const code = bytes.subarray(HEAD_BYTES);
    return bytes.subarray(0, HEAD_BYTES).equals(headOf(text, code)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function writeKept(path: string, text: Buffer, code: Buffer): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const temporary = `${path}.${process.pid}.tmp`;
    writeFileSync(temporary, Buffer.concat([headOf(text, code), code]), { mode: 0o600 });
    renameSync(temporary, path);
  } catch {
    // K2: a package that another account installed, a read-only file system, a full disk.
  }
}
