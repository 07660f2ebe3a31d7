// A program run to its end, without a shell, as a person would: what npm hands to its own scripts is kept from a second npm.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A package that is compiled while others want the processors. */
const LIMIT_MS = 480_000;

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runProgram(
  command: string,
  args: readonly string[],
  cwd: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)|^NODE_TEST|^NODE_OPTIONS$/i.test(name)),
  );
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, {
      cwd,
      env: { ...env, ...more },
      timeout: LIMIT_MS,
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: number | string; stdout?: string; stderr?: string };
    return { code: typeof code === 'number' ? code : 1, stdout, stderr: stderr === '' ? String(error) : stderr };
  }
}
