// Asking the built command about accounts of a project, and reading what it tells.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type Ended, svc } from '../svc-command.ts';
import { temporaryProject } from '../temporary-project.ts';

export const PUBLIC = 'https://bot.example';

interface Asked {
  readonly plugins: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly http?: object;
  /** Source text by path below plugins/. */
  readonly sources?: Readonly<Record<string, string>>;
  /** Of the process alone, not in the project's .env. */
  readonly process?: Readonly<Record<string, string>>;
}

/** What the command says of the accounts of a project with these plugins. Checks that no secret is in it, and that no trace is left. */
export async function ask(
  t: TestContext,
  { plugins, env = {}, http = {}, sources, process = {} }: Asked,
  ...args: string[]
) {
  const project = temporaryProject(t, {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
    config: { http: { port: 0, token: '${HTTP_TOKEN}', publicUrl: PUBLIC, ...http }, plugins },
    env,
    ...(sources === undefined ? {} : { plugins: sources }),
  });
  // A busy machine takes its time; who tests the limit names one.
  const patience = args.includes('--endpoint') && !args.includes('--timeout') ? ['--timeout', '5m'] : [];
  const ended = await svc(['doctor', ...args, ...patience], { cwd: project.path, env: process });
  for (const secret of Object.values(env))
    assert.ok(!(ended.stdout + ended.stderr).includes(secret), 'a secret is told');
  assert.equal(existsSync(project.paths.stateDir), false, 'a trace is left');
  return ended;
}

interface Finding {
  readonly name: string;
  readonly status: string;
  readonly detail: string;
  readonly remedy?: string;
}
interface Report {
  readonly ok: boolean;
  readonly endpoints: readonly { readonly name: string; readonly ok: boolean; readonly checks: readonly Finding[] }[];
}
export const reportOf = ({ stdout, stderr }: Ended): Report => {
  try {
    return JSON.parse(stdout) as Report;
  } catch (error) {
    throw new Error(`no report: ${stdout}${stderr}`, { cause: error });
  }
};
/** Findings of one account as `status name`, and by name. */
export function told(ended: Ended, account = 0) {
  const { checks } = reportOf(ended).endpoints[account] ?? { checks: [] };
  const of = (name: string): Finding => {
    const found = checks.find((check) => check.name === name);
    assert.ok(found, `${name} is not among ${JSON.stringify(checks)}`);
    return found;
  };
  return { list: checks.map(({ status, name }) => `${status} ${name}`), of };
}

/** A plain HTTP server, with every `<method> <url>` that it was asked. */
export async function web(
  t: TestContext,
  answer: RequestListener,
): Promise<{ readonly url: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}
