// Finds out whether a folder is a member of an npm workspace. npm then installs for the workspace, and a project of its own cannot be locked or moved.
import { dirname, join, relative, sep } from 'node:path';
import { readSmallFile } from '../../../shared/config/checks/small-file.ts';
import { isRecord } from '../../../shared/config/schema/json-schema.ts';
import { SvcError } from '../../../shared/svc-error.ts';

/** Throws `refused` if npm would take the folder for a part of a workspace above it. Writes nothing. */
export function refuseInWorkspace(folder: string): void {
  const root = workspaceOf(folder);
  if (root === undefined) return;
  throw new SvcError('refused', `nothing was written: ${folder} belongs to the npm workspace of ${root}`, {
    hint: `A project has a lockfile of its own, and can be moved alone. Choose a folder that "workspaces" in ${join(root, 'package.json')} does not match.`,
    details: { workspace: root },
  });
}

/** The nearest folder above whose `workspaces` match this one, as npm looks for it. */
function workspaceOf(folder: string): string | undefined {
  for (let root = dirname(folder); ; root = dirname(root)) {
    if (isMember(relative(root, folder).split(sep).join('/'), patternsOf(root))) return root;
    if (root === dirname(root)) return undefined;
  }
}

/** The list, or that of Yarn's form. A file that cannot be read makes no workspace, for npm as for svc. */
function patternsOf(root: string): readonly string[] {
  const read = readSmallFile(join(root, 'package.json'));
  if (read.kind !== 'text') return [];
  try {
    const { workspaces } = JSON.parse(read.text) as { readonly workspaces?: unknown };
    const list = isRecord(workspaces) ? workspaces['packages'] : workspaces;
    return Array.isArray(list) ? list.filter((pattern) => typeof pattern === 'string') : [];
  } catch {
    return [];
  }
}

/** The last pattern that matches decides; one with `!` leaves out. */
function isMember(path: string, patterns: readonly string[]): boolean {
  let found = false;
  for (const pattern of patterns) {
    const isOut = pattern.startsWith('!');
    if (expressionOf(isOut ? pattern.slice(1) : pattern).test(path)) found = !isOut;
  }
  return found;
}

const PARTS = /\*\*\/?|\*|\?|\{[^{}]*\}|[^*?{}]+|[{}]/g;

/** `bots/*`, `packages/**`, `{a,b}/*`: the forms that people use. */
function expressionOf(pattern: string): RegExp {
  const plain = pattern.replace(/^\.?\/+/, '').replace(/\/+$/, '');
  const parts = (plain.match(PARTS) ?? []).map((part) => {
    if (part.startsWith('**')) return part.endsWith('/') ? '(?:.*/)?' : '.*';
    if (part === '*') return '[^/]*';
    if (part === '?') return '[^/]';
    if (/^\{.*\}$/.test(part)) return `(?:${part.slice(1, -1).split(',').map(escaped).join('|')})`;
    return escaped(part);
  });
  return new RegExp(`^${parts.join('')}$`);
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
