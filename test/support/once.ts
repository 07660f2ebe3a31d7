// `svc runtime start --once --mode test` as a harness runs it, in projects with a plugin of the test's own.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { OnceReport } from '../../worker/runtime/once-types.ts';
import { svc } from './svc-command.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from './temporary-project.ts';

export interface Once {
  readonly code: number | null;
  readonly stderr: string;
  readonly report: OnceReport;
}

export async function once(path: string, env: Readonly<Record<string, string>> = {}): Promise<Once> {
  const { code, stdout, stderr } = await svc(['runtime', 'start', '--once', '--mode', 'test', '--json'], {
    cwd: path,
    env,
  });
  return { code, stderr, report: JSON.parse(stdout === '' ? '{}' : stdout) };
}

/** A project with one plugin of that source, under the slot `own`: in JavaScript, for TypeScript takes a second to load. */
export function withPlugin(
  t: Cleanup,
  source: string,
  keys: Readonly<Record<string, unknown>> = {},
  file = 'own.js',
): TemporaryProject {
  return temporaryProject(t, {
    config: { plugins: { sandbox: {}, own: { use: `./plugins/${file}` } }, ...keys },
    plugins: { [file]: `import { definePlugin, t } from 'svc';\n${source}` },
  });
}

export const setup = (body: string): string => `export default definePlugin({ name: 'own', setup(p) { ${body} } });`;

/** Every name below a project's folder with what it holds; packages are a link. */
export function contents(folder: string, leaveOut = /$^/): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^node_modules\b/.test(name) && !leaveOut.test(name))
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort()
    .map((name) => {
      const file = join(folder, name);
      const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
      return `${name} ${statSync(file).mtimeMs} ${digest}`;
    })
    .join('\n');
}
