// Stops and starts the host of a project by whoever keeps it up.
import { SvcError } from '../../../shared/svc-error.ts';
import { waitForReady } from '../connect/wait-for-ready.ts';
import { askSvc, callSvc, failedCall, type SvcCaller } from './svc-call.ts';

const SERVICES: ReadonlySet<string> = new Set(['systemd', 'launchd']);

export interface HostNow {
  readonly isRunning: boolean;
  /** `daemon` for a host that is stopped. */
  readonly owner: string;
}

/** Whoever keeps it up. */
export const isHostRunning = async (caller: SvcCaller): Promise<boolean> => (await statusOf(caller)).isRunning;

async function statusOf(caller: SvcCaller): Promise<HostNow> {
  const { json } = await askSvc(caller, ['runtime', 'status']);
  const isRunning = typeof json?.['pid'] === 'number' || json?.['state'] === 'running';
  return { isRunning, owner: isRunning && typeof json?.['owner'] === 'string' ? json['owner'] : 'daemon' };
}

/** Throws `refused` for an owner whose host this command can neither stop nor start. */
export async function hostNow(caller: SvcCaller): Promise<HostNow> {
  const { isRunning, owner } = await statusOf(caller);
  if (owner === 'daemon' || SERVICES.has(owner)) return { isRunning, owner };
  throw new SvcError('refused', `the host is kept up by ${owner}, which this command can neither stop nor start`, {
    hint:
      owner === 'container'
        ? 'in a container the new code is a new image: svc release begin --image'
        : 'stop it, then: svc runtime start --daemon, or svc service install',
  });
}

export async function stopHost(caller: SvcCaller, owner: string): Promise<void> {
  await callSvc(caller, SERVICES.has(owner) ? ['service', 'stop'] : ['runtime', 'stop']);
}

/** Returns why the host did not get ready within the time; undefined where it is ready. `tree`: its svc starts the host. */
export async function startHost(
  caller: SvcCaller,
  { owner, tree, seconds }: { readonly owner: string; readonly tree?: string; readonly seconds: number },
): Promise<string | undefined> {
  const from = tree === undefined ? {} : { tree };
  if (SERVICES.has(owner)) {
    const args = ['service', 'start'];
    const answer = await askSvc(caller, args, from);
    if (answer.code !== 0) return failedCall(args, answer).message;
  }
  const args = ['runtime', 'start', '--daemon', '--timeout', String(seconds)];
  if (SERVICES.has(owner)) return waitReady(caller, seconds);
  const answer = await askSvc(caller, args, from);
  if (answer.code === 0) return undefined;
  const reasons = answer.json?.['reasons'];
  return Array.isArray(reasons) && reasons.length > 0 ? reasons.join('; ') : failedCall(args, answer).message;
}

async function waitReady({ project }: SvcCaller, seconds: number): Promise<string | undefined> {
  const { ready, reasons } = await waitForReady(project, { timeoutMs: seconds * 1_000 });
  return ready ? undefined : reasons.join('; ');
}
