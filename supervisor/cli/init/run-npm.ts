// Runs npm for `svc init`, and says in one line what it said.
const NPM_TIMEOUT_MS = 180_000;

export interface NpmCall {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** Undefined after success, else the reason. May take a minute. */
export async function runNpm(args: readonly string[], { cwd, env, signal }: NpmCall): Promise<string | undefined> {
  const { execa } = await import('execa');
  const result = await execa('npm', args, {
    cwd,
    env,
    extendEnv: false,
    reject: false,
    timeout: NPM_TIMEOUT_MS,
    cancelSignal: signal,
    stdin: 'ignore',
    all: true,
  });
  return result.failed ? reasonOf(result) : undefined;
}

interface Failed {
  readonly all?: string | undefined;
  readonly timedOut: boolean;
  readonly code?: string | undefined;
}

/** npm's error without URLs. */
function reasonOf({ all = '', timedOut, code }: Failed): string {
  if (timedOut) return `npm did not end within ${NPM_TIMEOUT_MS / 1_000} s`;
  if (code === 'ENOENT') return 'npm is not there';
  const line = all
    .split('\n')
    .find((text) => /npm (error|ERR!)/i.test(text) && !/npm (error|ERR!) code/i.test(text))
    ?.replace(/npm (error|ERR!)\s*/i, '');
  return line === undefined
    ? 'npm ended with an error'
    : line.replaceAll(/https?:\/\/\S+/g, '(registry)').slice(0, 200);
}
