// The check for files of `svc deploy init` whose template has changed since: they lack what a newer svc asks of its owner.
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type Head, headOf, templateHash } from '../../deploy/template.ts';
import { type Check, type Finding, ok, type Subject, skip, warn } from '../check.ts';

export const DEPLOY_CHECK: Check = {
  id: 'deploy.current',
  title: 'The files of svc deploy init are those of this svc',
  run: current,
};

const FOLDER = 'deploy';
const DEEPEST = 4;
const HEAD_BYTES = 1_024;
/** What --force keeps of a file that it replaces. */
const COPY = /\.bak-[\dTZ-]+$/u;

function current({ paths: { project } }: Subject): Finding {
  const written = [...filesIn(project, '', 0), ...filesIn(project, FOLDER, DEEPEST)].flatMap((path) => {
    const head = headOf(beginningOf(join(project, path)));
    return head === undefined ? [] : [{ path, head }];
  });
  if (written.length === 0) return skip('svc deploy init has written none');
  const behind = written.filter(({ head }) => head.hash !== hashOf(head));
  if (behind.length === 0) return ok(`${written.length} are`);
  const targets = [...new Set(behind.map(({ head }) => targetOf(head)))];
  return warn(
    `older than the templates of this svc: ${behind.map(({ path, head }) => `${path} (svc ${head.version})`).join(', ')}`,
    `${targets.map((target) => `svc deploy init ${target} --force`).join('; ')}, with the other options of then: copies are kept, take your changes over from them`,
  );
}

/** Undefined for a template that this svc does not have. */
function hashOf({ path }: Head): string | undefined {
  try {
    return templateHash(path);
  } catch {
    return undefined;
  }
}

/** The templates of a target lie in a folder of its name. */
const targetOf = ({ path }: Head): string => path.split('/')[0] ?? '';

/** Paths below the project, `depth` folders deep. A folder that cannot be read has none. */
function filesIn(project: string, folder: string, depth: number): readonly string[] {
  try {
    return readdirSync(join(project, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile()) return COPY.test(path) ? [] : [path];
      return entry.isDirectory() && depth > 0 ? filesIn(project, path, depth - 1) : [];
    });
  } catch {
    return [];
  }
}

/** Empty for a file that cannot be read. */
function beginningOf(path: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, HEAD_BYTES, 0));
  } catch {
    return '';
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
