// Loads a TypeScript file that a test has written, or one of the sources by a path that is known only then: tests run without a loader.
import { pathToFileURL } from 'node:url';
import { tsImport } from 'tsx/esm/api';

export const importSource = (path: string): Promise<unknown> => tsImport(pathToFileURL(path).href, import.meta.url);
