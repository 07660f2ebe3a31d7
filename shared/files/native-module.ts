// Explains why a package with native code cannot be loaded: built for another Node or processor, cut short, or not installed.
// Read only at the first load and after a failure.
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, SvcError } from '../svc-error.ts';

/** Major versions of Node by the number that compiled code carries (`process.versions.modules`). */
const NODE_OF_MODULES: Readonly<Record<string, number>> = {
  108: 18,
  115: 20,
  120: 21,
  127: 22,
  131: 23,
  137: 24,
  141: 25,
};
/** Names of processors in the header of an ELF file. */
const MACHINES: Readonly<Record<number, string>> = { 3: 'ia32', 40: 'arm', 62: 'x64', 183: 'arm64', 243: 'riscv64' };

const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
const HEADER_BYTES = 64;
const IS_64_BIT = 2;

/**
 * Why the file cannot be loaded here; undefined if nothing speaks against it. Only ELF files are read (Linux). Must come before a load: a file that was
 * cut short ends the process with SIGBUS while it is being loaded, and one of another processor is reported as missing.
 */
export function unfitFile(file: string, arch: string = process.arch): string | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const head = Buffer.alloc(HEADER_BYTES);
    const read = readSync(descriptor, head, 0, HEADER_BYTES, 0);
    const name = basename(file);
    if (read < HEADER_BYTES) return `${name} is cut short (${read} bytes)`;
    if (!head.subarray(0, ELF.length).equals(ELF)) return undefined;
    const machine = MACHINES[head.readUInt16LE(18)];
    if (machine !== undefined && machine !== arch) return `${name} is for ${machine}, this machine is ${arch}`;
    // The section headers are the last part of the file
    const wide = head.readUInt8(4) === IS_64_BIT;
    const start = wide ? Number(head.readBigUInt64LE(40)) : head.readUInt32LE(32);
    const end = start + head.readUInt16LE(wide ? 58 : 46) * head.readUInt16LE(wide ? 60 : 48);
    const { size } = fstatSync(descriptor);
    return size < end ? `${name} is cut short (${size} of ${end} bytes)` : undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** Whether the error is of the loading, and not of what was loaded. */
export const isOfLoading = (error: unknown): boolean =>
  ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED'].includes(
    String((error as { readonly code?: unknown } | null)?.code),
  ) || Array.isArray((error as { readonly tries?: unknown } | null)?.tries); // of the package `bindings`

export interface Unusable {
  /** The package that this Node needs. */
  readonly name: string;
  /** URL of the module that loads it. */
  readonly from: string;
  /** The result of `unfitFile`, or the error of the load. */
  readonly cause: unknown;
}

/** The one sentence that every command ends with. `details` hold its two halves. */
export function modulesUnusable({ name, from, cause }: Unusable): SvcError {
  const reason = typeof cause === 'string' ? cause : reasonOf(name, from, cause);
  const remedy = remedyIn(folderOf(from));
  return new SvcError('modules_unusable', `${reason}: ${remedy}`, {
    ...(typeof cause === 'string' ? {} : { cause }),
    details: { reason, remedy },
  });
}

function reasonOf(name: string, from: string, cause: unknown): string {
  const message = messageOf(cause);
  const [, built, wanted] = /NODE_MODULE_VERSION (\d+)[^]*?NODE_MODULE_VERSION (\d+)/.exec(message) ?? [];
  if (built !== undefined && wanted !== undefined)
    return `installed for ${nodeOf(built)}, runs on Node ${process.versions.node.split('.', 1)[0]}`;
  const missing =
    (cause as { readonly tries?: unknown })?.tries !== undefined || message.startsWith('Cannot find module');
  if (!missing) return `${name} cannot be loaded (${message.split('\n', 1)[0]})`;
  return isInstalled(name, from)
    ? `${name} is not whole, its native module is missing`
    : `${name} is not installed, which Node ${process.versions.node.split('.', 1)[0]} needs`;
}

const nodeOf = (modules: string): string => {
  const major = NODE_OF_MODULES[modules];
  return major === undefined ? `another Node (module version ${modules})` : `Node ${major}`;
};

function isInstalled(name: string, from: string): boolean {
  try {
    return existsSync(createRequire(from).resolve(name));
  } catch {
    return false;
  }
}

function remedyIn(folder: string): string {
  return existsSync(join(folder, 'package-lock.json'))
    ? `run npm ci in ${folder}`
    : `install the packages again in ${folder}`;
}

/** The folder whose `node_modules` hold svc, or the folder of svc itself. */
function folderOf(from: string): string {
  const file = fileURLToPath(from);
  const outer = file.indexOf(`${sep}node_modules${sep}`);
  if (outer !== -1) return file.slice(0, outer);
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder))
    if (isNamed(join(folder, 'package.json'))) return folder;
  return dirname(file);
}

/** Folders of built programs have a package.json as well, without a name. */
function isNamed(manifest: string): boolean {
  try {
    return typeof JSON.parse(readFileSync(manifest, 'utf8')).name === 'string';
  } catch {
    return false;
  }
}
