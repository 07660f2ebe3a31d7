// The templates in the package's `deploy/`, and the first line by which a written file is known again.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownPackage } from '../init/own-package.ts';

/** Text of a template by its path below `deploy/`: `systemd/user.service`. */
export const template = (path: string): string => readFileSync(join(ownPackage().root, 'deploy', path), 'utf8');

const HASH_DIGITS = 12;

/** Names a version of a template, whatever is filled in. */
export const templateHash = (path: string): string =>
  createHash('sha256').update(template(path)).digest('hex').slice(0, HASH_DIGITS);

/** The line that each written file begins with, without the marks of a comment. */
export const headLine = (path: string): string =>
  `svc ${ownPackage().version}, deploy/${path} ${templateHash(path)}: svc deploy init writes it`;

const HEAD = /svc (?<version>\S+), deploy\/(?<path>\S+) (?<hash>[\da-f]{12}): svc deploy init writes it/u;

export interface Head {
  readonly version: string;
  /** Path of the template below `deploy/`. */
  readonly path: string;
  readonly hash: string;
}

/** The head of a file, undefined where svc did not write it. A plist has it behind the declaration of XML. */
export function headOf(text: string): Head | undefined {
  const groups = HEAD.exec(text.split('\n', 3).join('\n'))?.groups;
  return groups === undefined ? undefined : (groups as unknown as Head);
}

/** Puts the head before a text whose comments begin with `#`. */
export const withHead = (path: string, text: string): string => `# ${headLine(path)}\n${text}`;
