// The package that contains this program.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord } from '../../../shared/config/schema/json-schema.ts';

/** Folder and version of the package that contains this program. */
export function ownPackage(): { readonly root: string; readonly version: string } {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    const file = join(at, 'package.json');
    const content: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
    if (isRecord(content) && content['name'] === 'svc') return { root: at, version: String(content['version']) };
    if (dirname(at) === at) return { root: at, version: '0.0.0' };
  }
}
