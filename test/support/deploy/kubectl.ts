// kubectl without a cluster: what it renders and makes.
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

/** Why there is none here; false where there is one. Throws where there has to be one. */
export function kubectlMissing(): string | false {
  const { status, stdout } = spawnSync('kubectl', ['version', '--client', '-o', 'json'], { encoding: 'utf8' });
  const missing =
    status === 0 && stdout.includes('kustomizeVersion') ? false : 'kubectl with kustomize is missing (1.28 or later)';
  // biome-ignore lint/style/noProcessEnv: a switch of the test run
  if (missing !== false && process.env['SVC_REQUIRE_KUBECTL'] === '1')
    throw new Error(`SVC_REQUIRE_KUBECTL=1, but ${missing}`);
  return missing;
}

/** No cluster of this machine is asked, even if it has one. */
const environment = (folder: string, config = '/dev/null') => ({
  PATH: process.env['PATH'],
  HOME: folder,
  KUBECONFIG: config,
});

/** A line of a shell, as `svc deploy init` prints it; gives what it prints. */
export const shell = (folder: string, line: string): string =>
  execFileSync('sh', ['-ec', line], { cwd: folder, encoding: 'utf8', env: environment(folder) });

/** The same, with a cluster that this process stands in for. */
export async function shellTo({ config }: { readonly config: string }, folder: string, line: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-ec', line], { cwd: folder, env: environment(folder, config) });
  return stdout;
}

/** What `kubectl apply -k` would apply. */
export const rendered = (folder: string, kustomization: string): string =>
  shell(folder, `kubectl kustomize ${kustomization}`);
