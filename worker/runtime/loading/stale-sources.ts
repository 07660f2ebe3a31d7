// Sources of a project's plugin that were changed after they were compiled. A start in production runs the compiled code, which is the old one.
import { existsSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { sourceOf } from './find-plugin.ts';
import { codeBelow, codeOf } from './loaded-code.ts';

/** A warning if some source of this compiled file, or of what it imports by a relative path, is newer than its compiled code. */
export function staleWarning(file: string, project: string): string | undefined {
  const code = codeOf(file).flatMap((path) => codeBelow(path));
  const stale = [...new Set(code)].flatMap((compiled) => {
    const source = /\.test\.[cm]?js$/.test(compiled) ? undefined : sourceOf(compiled, project);
    return source !== undefined && isNewer(source, compiled) ? [{ source, compiled }] : [];
  });
  const [first] = stale;
  if (first === undefined) return undefined;
  const others = stale.length === 1 ? '' : ` (and ${stale.length - 1} more)`;
  const [source, compiled] = [relative(project, first.source), relative(project, first.compiled)];
  return `${source}${others} is newer than ${compiled}: production runs the old code until npm run build`;
}

const isNewer = (source: string, compiled: string): boolean =>
  existsSync(source) && statSync(source).mtimeMs > statSync(compiled).mtimeMs;
