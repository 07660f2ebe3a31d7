// The whole host in the process of the test, on a port of its own.
import { stringify } from 'yaml';
import { ensureStateFolder } from '../../../shared/files/state-folder.ts';
import { newRuntimeId } from '../../../shared/identifiers.ts';
import { createApp } from '../../../worker/host/app.ts';
import type { App, AppOptions } from '../../../worker/host/app-options.ts';
import { openWorkerLog } from '../../../worker/process/worker-log.ts';
import { type Cleanup, type TemporaryProject, temporaryProject } from '../temporary-project.ts';

// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
export const HTTP = { port: 0, token: '${HTTP_TOKEN}' };

export interface Running {
  readonly app: App;
  readonly project: TemporaryProject;
  readonly exits: [number, string][];
  call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; json: Record<string, unknown>; text: string; headers: Headers }>;
  configure(config: Readonly<Record<string, unknown>>): void;
}

type RunningOptions = Partial<Omit<AppOptions, 'project'>> & {
  config?: Readonly<Record<string, unknown>>;
  project?: TemporaryProject;
};

/** A host that is up. */
export async function running(t: Cleanup, options: RunningOptions = {}): Promise<Running> {
  const host = starting(t, options);
  await host.app.up;
  return host;
}

/** A host that has begun to start. */
export function starting(
  t: Cleanup,
  { config = {}, project = temporaryProject(t, { config }), ...options }: RunningOptions = {},
): Running {
  const runtimeId = newRuntimeId();
  ensureStateFolder(project.paths.stateDir);
  const log = openWorkerLog(project.paths, { supervised: true, terminal: false, runtimeId });
  const exits: [number, string][] = [];
  const base = {
    runtimeId,
    log,
    mode: 'production',
    watch: false,
    owner: 'foreground',
    previous: { end: 'first', code: null, signal: null, detail: null },
  } as const;
  const app = createApp({
    ...base,
    environment: project.env,
    ...options,
    project: project.path,
    requestExit: (code, reason) => exits.push([code, reason]),
  });
  t.after(async () => void (await app.stop(2_000)));
  return {
    app,
    project,
    exits,
    configure: (next) =>
      project.write(
        'svc.config.yml',
        stringify({
          host: { name: 'test' },
          http: HTTP,
          plugins: { sandbox: {}, echo: {}, ping: {}, help: {} },
          ...next,
        }),
      ),
    async call(method, path, body) {
      const headers = {
        authorization: `Bearer ${project.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const response = await fetch(`http://127.0.0.1:${app.address()?.port}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json') === true;
      return {
        status: response.status,
        text,
        json: isJson ? (JSON.parse(text) as Record<string, unknown>) : {},
        headers: response.headers,
      };
    },
  };
}
