// Source of ingress for a command: the running host over HTTP or, if the host is stopped, the project's database.
//
//   INGRESS-SOURCE-1  A host that is up but silent is not passed over: it decides alone what begins. The command is refused with the reason.
import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import type { IngressChange, IngressPreview, IngressState, IngressStatus } from '../../../shared/api/runtime.ts';
import { SvcError } from '../../../shared/svc-error.ts';
import type { CommandContext, HostClient } from '../command.ts';
import { openStoredIngress } from '../start/worker-entry.ts';
import { findRunning } from './control-client.ts';

/** Inbox items that are not handled yet. */
export interface Waiting {
  readonly items: number;
  readonly bytes: number;
}

export interface IngressSource {
  /** False if the host is stopped: nothing goes on then. */
  readonly isUp: boolean;
  set(change: IngressChange): Promise<IngressState>;
  status(): Promise<IngressStatus>;
  preview(): Promise<IngressPreview>;
  /** Undefined where neither the host nor the database can tell. */
  waiting(): Promise<Waiting | undefined>;
}

type Context = Pick<CommandContext, 'host' | 'print' | 'project' | 'env'>;

const PATH = '/api/system/ingress';

/** Runs `ask` on the host, or on the database if the host is stopped. */
export async function askIngress<T>(context: Context, ask: (source: IngressSource) => Promise<T>): Promise<T> {
  try {
    return await ask(hostIngress(await context.host()));
  } catch (error) {
    if (!(error instanceof SvcError) || !(await isStopped(error, context))) throw error;
    const stored = await storedIngress(context, error);
    if (stored === undefined) throw error;
    return ask(stored);
  }
}

const hostIngress = (host: HostClient): IngressSource => ({
  isUp: true,
  set: async (change) =>
    (await host.request('PUT', PATH, { body: change, idempotencyKey: randomUUID() })).body as IngressState,
  status: async () => (await host.request('GET', PATH)).body as IngressStatus,
  preview: async () => (await host.request('GET', `${PATH}/preview`)).body as IngressPreview,
  waiting: async () => ((await host.request('GET', '/api/system/status')).body as { readonly inbox?: Waiting }).inbox,
});

async function storedIngress(
  { project: find, env: environment, print }: Context,
  reason: SvcError,
): Promise<IngressSource | undefined> {
  const project = find();
  const ingress = await openStoredIngress({ project, environment });
  if (ingress === undefined) return undefined;
  print.note(`${reason.message.split('\n', 1)[0]}: using ${relative(project, ingress.file)}`);
  return {
    isUp: false,
    set: (change) => ingress.set(change),
    status: () => ingress.status(),
    preview: () => ingress.preview(),
    waiting: async () => undefined,
  };
}

/** True if no process answers at all, or a configuration fault keeps the host from running. The writer lock has the last word. */
async function isStopped(error: SvcError, { project }: Context): Promise<boolean> {
  if (error.code === 'config_invalid' || error.code === 'secret_invalid')
    return (await findRunning(project()).catch(() => undefined)) === undefined;
  return error.code === 'not_running';
}
