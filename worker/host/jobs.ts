// Scheduled jobs, wired into the host.
import { join } from 'node:path';
import { JOBS_FILE } from '../../shared/jobs/job.ts';
import type { Core } from '../core/core.ts';
import type { Statement } from '../database/unit.ts';
import type { Engine } from '../engine/engine.ts';
import type { JobsApi } from '../http/api/jobs-api.ts';
import type { WorkroomApi } from '../http/api/workroom-api.ts';
import { createInboxAdmin } from '../inbox/inbox-admin.ts';
import { createJobsAdmin } from '../jobs/admin.ts';
import { JOBS_SLOT, type JobTargets } from '../jobs/job-item.ts';
import { Jobs } from '../jobs/jobs.ts';
import { HIDDEN } from '../runtime/loading/built-ins.ts';

/** Undefined on a host that is no Workroom. */
type WorkroomOf = () => Pick<WorkroomApi, 'boards'> | undefined;

export function createJobs(
  core: Core,
  engine: Engine,
  { project, workroom }: { readonly project: string; readonly workroom: WorkroomOf },
): Jobs {
  const { inbox, timers, gate, dispatcher, runtime } = engine;
  const items = createInboxAdmin({ core, inbox, dispatcher });
  return new Jobs({
    core,
    path: join(project, JOBS_FILE),
    inbox,
    timers,
    targets: () => targetsOf(engine, workroom()),
    isPaused: () => gate.state?.state !== 'open',
    zone: () => runtime.loaded.config.schedule.timezone,
    stored: () => dispatcher.wake(),
    needPlugin: () => runtime.addHidden(JOBS_SLOT, HIDDEN.jobs),
    dropItem: async (id: string, statements: readonly Statement[]) => {
      const caller = { actor: 'job', scope: 'full', requestId: '' } as const;
      await items.drop(id, { caller, revision: undefined, reason: 'its job was removed', keep: () => statements });
    },
  });
}

/** Undefined while no generation serves. */
function targetsOf({ runtime, endpoints }: Engine, workroom: ReturnType<WorkroomOf>): JobTargets | undefined {
  const generation = runtime.current;
  if (generation === undefined) return undefined;
  return {
    prefix: generation.commands.prefix,
    endpoint: (name) => {
      const id = generation.endpoint(name);
      return endpoints.get(id) === undefined && generation.can(id) === undefined ? undefined : id;
    },
    hasCommand: (name) =>
      generation.capabilities
        .ofKind('command')
        .some((one) => one.name === name || (one.spec.aliases ?? []).includes(name)),
    board: workroom && ((id) => membersOf(workroom, id)),
  };
}

async function membersOf(workroom: Pick<WorkroomApi, 'boards'>, id: string): Promise<readonly string[] | undefined> {
  const board = (await workroom.boards(true)).boards.find((one) => one.id === id && !one.archived);
  return board && Object.entries(board.roles ?? {}).flatMap(([member, roles]) => (roles.length === 0 ? [] : [member]));
}

export function jobsApi(of: {
  readonly core: Core;
  readonly engine: Engine;
  readonly jobs: Jobs;
  readonly workroom: { readonly api: ReturnType<WorkroomOf> };
  admit(): void;
}): JobsApi {
  const { core, engine, jobs } = of;
  return createJobsAdmin({
    core,
    jobs,
    targets: () => targetsOf(engine, of.workroom.api),
    zone: () => engine.runtime.loaded.config.schedule.timezone,
    admit: () => of.admit(),
  });
}
