// A copy of the built svc with packages of its own, whose native module of SQLite a test may break. Nothing of this repository is touched.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nativeFile } from '../../../shared/sqlite.ts';
import { removeLive } from '../disk/remove-live.ts';
import type { Cleanup } from '../temporary-project.ts';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
/** Kept as files of the copy. All other packages are links. */
const OWN = /^better-sqlite3/;
const NOT_COPIED = /\.map$|dist\/(test|failpoints|testing|\.compile-cache)$|\/(deps|src|obj|obj\.target)$|\.a$/;
/** Of the header of an ELF file: byte 18 is the processor, 183 is arm64 and 62 is x64. */
const MACHINE_AT = 18;

export interface SvcCopy {
  readonly folder: string;
  /** Its command, for `node`. */
  readonly cli: string;
  /** Replaces the native module of SQLite, as `npm ci` does: by another file. */
  break(how: keyof typeof BREAKS): void;
  mend(): void;
}

const BREAKS = {
  missing: () => undefined,
  'of three bytes': (bytes: Buffer) => bytes.subarray(0, 3),
  'cut in the middle': (bytes: Buffer) => bytes.subarray(0, bytes.length / 2),
  'of another processor': (bytes: Buffer) => {
    const other = Buffer.from(bytes);
    other[MACHINE_AT] = bytes[MACHINE_AT] === 62 ? 183 : 62;
    return other;
  },
} as const;

export const WAYS_TO_BREAK = Object.keys(BREAKS) as (keyof typeof BREAKS)[];

export function svcCopy(t: Cleanup): SvcCopy {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-copy-')));
  t.after(() => removeLive(folder)); // a host of it may keep compiled code there
  const copy = (name: string): void =>
    cpSync(join(REPOSITORY, name), join(folder, name), { recursive: true, filter: (path) => !NOT_COPIED.test(path) });
  for (const name of ['package.json', 'package-lock.json', 'dist']) copy(name);
  mkdirSync(join(folder, 'node_modules'));
  for (const name of readdirSync(join(REPOSITORY, 'node_modules')).filter((each) => !each.startsWith('.')))
    if (OWN.test(name)) copy(join('node_modules', name));
    else symlinkSync(join(REPOSITORY, 'node_modules', name), join(folder, 'node_modules', name));
  const original = nativeFile() ?? '';
  const module = join(folder, relative(REPOSITORY, original));
  const put = (bytes: Buffer | undefined): void => {
    rmSync(module, { force: true });
    if (bytes === undefined) return;
    mkdirSync(dirname(module), { recursive: true });
    writeFileSync(module, bytes);
  };
  return {
    folder,
    cli: join(folder, 'dist/cli.js'),
    break: (how) => put(BREAKS[how](readFileSync(original))),
    mend: () => put(readFileSync(original)),
  };
}
