// The built command, and how an owner starts a host with it.
import { fileURLToPath } from 'node:url';

export const CLI = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

/** For `node`: the host of a project in the foreground. */
export const foregroundArgs = (project: string): readonly string[] => [
  CLI,
  'runtime',
  'start',
  '--mode',
  'production',
  '--no-watch',
  '--project',
  project,
];
