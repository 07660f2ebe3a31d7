// Stops and starts the host of a project by whoever keeps it up.
//
//   RELEASE-OWNER-1  A service is stopped and started by the unit or agent of svc, under the manager that has it: of the system, or of one user.
//   RELEASE-OWNER-2  `begin` refuses a host that this user can neither stop nor start. Nothing was touched by then, and ingress is not paused.
import { userInfo } from 'node:os';
import type { ReleaseRecord } from '../../../shared/recovery/release-record.ts';
import { coerceError, SvcError } from '../../../shared/svc-error.ts';
import { waitForReady } from '../connect/wait-for-ready.ts';
import { knownOwners, ownerPlaces } from '../service/owners.ts';
import type { Scope, Service } from '../service/service.ts';
import { serviceOf } from '../service/service-of.ts';
import { askSvc, callSvc, failedCall, type SvcCaller } from './svc-call.ts';

const SERVICES: ReadonlySet<string> = new Set(['systemd', 'launchd']);
const SCOPES: readonly Scope[] = ['system', 'user'];

/** As the record of a release has it. `scope`: of systemd alone. */
export type Keeper = Pick<ReleaseRecord, 'owner' | 'scope'>;

interface HostNow {
  readonly isRunning: boolean;
  readonly owner: string;
  readonly pid: number | undefined;
  /** The owner's own command. */
  readonly stop: string | undefined;
}

export const isHostRunning = async (caller: SvcCaller): Promise<boolean> => (await hostNow(caller)).isRunning;

async function hostNow(caller: SvcCaller): Promise<HostNow> {
  const { json } = await askSvc(caller, ['runtime', 'status']);
  const { pid, owner, ownerStop: stop } = json ?? {};
  return {
    isRunning: typeof pid === 'number' || json?.['state'] === 'running',
    owner: typeof owner === 'string' ? owner : 'daemon',
    pid: typeof pid === 'number' ? pid : undefined,
    stop: typeof stop === 'string' ? stop : undefined,
  };
}

/** Who stops and starts the host. A host that is stopped is started by the service that is enabled for it, else as a daemon. Throws `refused`. */
export async function keeperOf(caller: SvcCaller): Promise<{ readonly keeper: Keeper; readonly isRunning: boolean }> {
  const host = await hostNow(caller);
  const { isRunning } = host;
  const service = isRunning ? await serviceOfRunning(caller, host) : enabledService(caller);
  if (service === undefined) return { keeper: { owner: 'daemon' }, isRunning };
  const denied = await service.denied();
  if (denied !== undefined) throw mayNot(service, denied);
  const { kind, scope } = service;
  return { keeper: { owner: kind, ...(kind === 'systemd' ? { scope } : {}) }, isRunning };
}

/** The service whose process the host is (RELEASE-OWNER-1); undefined for a daemon. */
async function serviceOfRunning(caller: SvcCaller, { owner, pid, stop }: HostNow): Promise<Service | undefined> {
  if (owner === 'daemon') return undefined;
  if (!SERVICES.has(owner))
    throw new SvcError('refused', `the host is kept up by ${owner}, which this command can neither stop nor start`, {
      hint:
        owner === 'container'
          ? 'in a container the new code is a new image: svc release begin --image'
          : 'stop it, then: svc runtime start --daemon, or svc service install',
    });
  let silent: SvcError | undefined;
  for (const service of servicesOf(caller)) {
    const state = await service.state().catch(coerceError);
    if (state instanceof SvcError) silent = state;
    else if (pid !== undefined && state.pid === pid) return service;
  }
  if (silent !== undefined) throw silent; // the manager that does not answer may be the one
  throw new SvcError('refused', `pid ${pid} is kept up by ${owner}, and by no service that svc has written`, {
    hint: `${stop ?? `stop it by ${owner}`}, and take it out of ${owner}; then svc service install writes one that a release can stop and start`,
  });
}

function enabledService(caller: SvcCaller): Service | undefined {
  const [enabled] = knownOwners(caller.project, ownerPlaces(caller.context.env));
  if (enabled === undefined) return undefined;
  const { kind, name, remove } = enabled;
  const service = servicesOf(caller).find((one) => one.kind === kind && one.name === name);
  if (service !== undefined) return service;
  throw new SvcError(
    'refused',
    `this project belongs to ${kind}, which starts it as ${name}, and svc has not written that`,
    {
      hint: `${remove}; then svc service install writes one that a release can stop and start`,
    },
  );
}

/** Services that this project can have here, and that are there. */
function servicesOf({ project, context: { env } }: SvcCaller): readonly Service[] {
  return SCOPES.flatMap((scope) => {
    try {
      const service = serviceOf({ project, scope, env });
      return service.isThere() ? [service] : [];
    } catch (error) {
      if (error instanceof SvcError) return []; // none of this scope
      throw error;
    }
  });
}

function mayNot({ name, kind }: Service, why: string): SvcError {
  const user = userName();
  return new SvcError(
    'refused',
    `${name} is of the system, and ${kind} does not let ${user} stop and start it: ${why}`,
    {
      hint: `a rule of polkit or of sudo lets ${user} do so: \`svc help guides\`, release, "Under systemd"; nothing was paused`,
    },
  );
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`; // without a name
  }
}

const userOption = ({ scope }: Keeper): readonly string[] => (scope === 'user' ? ['--user'] : []);

export async function stopHost(caller: SvcCaller, keeper: Keeper): Promise<void> {
  await callSvc(caller, SERVICES.has(keeper.owner) ? ['service', 'stop', ...userOption(keeper)] : ['runtime', 'stop']);
}

/** Returns why the host did not get ready within the time; undefined where it is ready. `tree`: its svc starts the host. */
export async function startHost(
  caller: SvcCaller,
  { keeper, tree, seconds }: { readonly keeper: Keeper; readonly tree?: string; readonly seconds: number },
): Promise<string | undefined> {
  const from = tree === undefined ? {} : { tree };
  if (SERVICES.has(keeper.owner)) {
    const args = ['service', 'start', ...userOption(keeper)];
    const answer = await askSvc(caller, args, from);
    return answer.code === 0 ? waitReady(caller, seconds) : failedCall(args, answer).message;
  }
  const args = ['runtime', 'start', '--daemon', '--timeout', String(seconds)];
  const answer = await askSvc(caller, args, from);
  if (answer.code === 0) return undefined;
  const reasons = answer.json?.['reasons'];
  return Array.isArray(reasons) && reasons.length > 0 ? reasons.join('; ') : failedCall(args, answer).message;
}

async function waitReady({ project }: SvcCaller, seconds: number): Promise<string | undefined> {
  const { ready, reasons } = await waitForReady(project, { timeoutMs: seconds * 1_000 });
  return ready ? undefined : reasons.join('; ');
}
