// Removes the path of the project from texts that are answered, sent as events or stored. Files of the project are named relative to its folder.
import { realpathSync } from 'node:fs';
import { sep } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Node names modules by their real path, and in some messages as URLs. */
export function fromProject(project: string): (text: string) => string {
  let prefixes: readonly string[] | undefined;
  return (text) => {
    if (!text.includes('/')) return text;
    prefixes ??= [...new Set([project, realPath(project)])].flatMap((path) => [
      `${pathToFileURL(path).href}/`,
      path.endsWith(sep) ? path : path + sep,
    ]);
    return prefixes.reduce((shown, prefix) => shown.replaceAll(prefix, ''), text);
  };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // the folder was moved meanwhile
  }
}
