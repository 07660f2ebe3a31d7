// Planted faults in the build with failpoints: a class of the worker is replaced by the decorator that the crash kit has of it, wherever it is imported.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { ROOT } from './output.ts';

const FOLDER = join(ROOT, 'test/kits/crash/kit/plants');
/** What a decorator stands for. */
const DECORATED = /\bas Real,?\s*\} from '([^']+)';$/m;

/** Decorators by the file of the class. */
const decorators = new Map(
  // A tree without tests is built as well.
  (existsSync(FOLDER) ? readdirSync(FOLDER) : []).flatMap((name) => {
    const decorated = DECORATED.exec(readFileSync(join(FOLDER, name), 'utf8'))?.[1];
    return decorated === undefined ? [] : [[join(FOLDER, decorated), join(FOLDER, name)] as const];
  }),
);

export const plants: Plugin = {
  name: 'plants',
  setup(build) {
    build.onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, importer, resolveDir }) => {
      const decorator = decorators.get(join(resolveDir, path));
      return decorator === undefined || decorator === importer ? undefined : { path: decorator };
    });
  },
};
