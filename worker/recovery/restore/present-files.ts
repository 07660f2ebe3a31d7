// What the project's own files say beside a checkpoint: the commit that is checked out, and the keys of svc.config.yml that differ. A restore leaves
// them as they are, so whoever agrees to one has to know.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readYaml } from '../../../shared/config/yaml-tree.ts';
import { CONFIG_FILE } from '../../../shared/files/paths.ts';
import { gitArguments } from '../checkpoint/project-files.ts';

const GIT_MS = 10_000;

/** Null outside a repository, without git, and where another project's repository lies around this one. */
export function presentCommit(project: string): string | null {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', gitArguments(project, args), {
      encoding: 'utf8',
      timeout: GIT_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    const id = git('rev-parse', '--verify', 'HEAD');
    return /^[0-9a-f]{40,64}$/.test(id) && git('ls-files', '--', 'package.json', CONFIG_FILE) !== '' ? id : null;
  } catch {
    return null;
  }
}

/** Paths of the values that differ, such as `plugins.shop.url`; never a value. Null where one of the files is not there or is no YAML. */
export function differingKeys(file: string, other: string): readonly string[] | null {
  const [one, two] = [file, other].map(configIn);
  return one === undefined || two === undefined ? null : differences(one.value, two.value, '');
}

function configIn(file: string): { readonly value: unknown } | undefined {
  if (!existsSync(file)) return undefined;
  const { value, findings } = readYaml(readFileSync(file, 'utf8'));
  return findings.length === 0 ? { value } : undefined;
}

/** A list differs as a whole: its entries have no name. */
function differences(one: unknown, other: unknown, path: string): readonly string[] {
  if (isMap(one) && isMap(other))
    return [...new Set([...Object.keys(one), ...Object.keys(other)])]
      .sort()
      .flatMap((key) => differences(one[key], other[key], path === '' ? key : `${path}.${key}`));
  return JSON.stringify(one) === JSON.stringify(other) ? [] : [path === '' ? CONFIG_FILE : path];
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
