// Scheduled jobs, wired into the host.
//
//   JOBS-HOST-1  Nothing of jobs is loaded while there is no file and no stored set. Meanwhile the file is looked for once a second. A question of
//                an operator loads them too.
import { join } from 'node:path';
import { JOBS_FILE } from '../../shared/jobs/job.ts';
import { messageOf, SvcError } from '../../shared/svc-error.ts';
import type { Timer } from '../../shared/time/clock.ts';
import type { Core } from '../core/core.ts';
import type { Statement } from '../database/unit.ts';
import type { Engine } from '../engine/engine.ts';
import type { JobsApi } from '../http/api/jobs-api.ts';
import type { WorkroomApi } from '../http/api/workroom-api.ts';
import { createInboxAdmin } from '../inbox/inbox-admin.ts';
import type { JobDue } from '../jobs/due-plan.ts';
import { hasGoodSet } from '../jobs/good-set.ts';
import type { JobTargets } from '../jobs/job-item.ts';
import type { FileState, GoodSet } from '../jobs/jobs.ts';
import { JobsFileWatch } from '../jobs/jobs-file-watch.ts';
import type { JobFigures } from '../metrics/job-metrics.ts';
import { HIDDEN } from '../runtime/loading/built-ins.ts';

export interface JobsHostDeps {
  readonly core: Core;
  readonly engine: Engine;
  /** Folder of the project. */
  readonly project: string;
  /** Undefined on a host that is no Workroom. */
  readonly workroom: () => Pick<WorkroomApi, 'boards'> | undefined;
  /** Throws while no work is taken. */
  readonly admit: () => void;
}

type Loaded = Awaited<ReturnType<typeof load>>;

const LOOK_MS = 1_000;

export class JobsHost {
  readonly #deps: JobsHostDeps;
  readonly #watch: JobsFileWatch;
  #loading: Promise<Loaded> | undefined;
  #loaded: Loaded | undefined;
  #timer: Timer | undefined;
  /** The last fault, which the log has. */
  #told: string | undefined;
  /** The database is open. */
  #isStarted = false;

  constructor(deps: JobsHostDeps) {
    this.#deps = deps;
    this.#watch = new JobsFileWatch(pathOf(deps));
  }

  /** Called once the database is open. Resolves after the first look at the file. Throws only what the loading throws. */
  async start(): Promise<void> {
    this.#isStarted = true;
    this.#watch.reading();
    if (this.isLoaded || this.#watch.isThere() || (await this.#hasStored())) await this.#running();
    else this.#wait();
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#timer?.cancel();
    const loaded = await this.#loading?.catch(() => undefined);
    await loaded?.jobs.stop();
  }

  get file(): FileState {
    return this.#loaded?.jobs.file ?? { state: 'absent' };
  }
  get good(): GoodSet | undefined {
    return this.#loaded?.jobs.good;
  }
  get isLoaded(): boolean {
    return this.#loading !== undefined;
  }
  /** True while neither the file nor a change of it is being taken in. */
  get isIdle(): boolean {
    return this.isLoaded ? this.#loaded?.jobs.isIdle === true : true;
  }

  readonly api: JobsApi = {
    list: async (texts) => (await this.#running()).admin.list(texts),
    show: async (id, texts) => (await this.#running()).admin.show(id, texts),
    put: async (id, entry, change) => (await this.#running()).admin.put(id, entry, change),
    remove: async (id, change) => (await this.#running()).admin.remove(id, change),
    setPaused: async (id, paused, change) => (await this.#running()).admin.setPaused(id, paused, change),
    run: async (id, of) => (await this.#running()).admin.run(id, of),
    runs: async (id, page) => (await this.#running()).admin.runs(id, page),
  };

  /** What the due rows of jobs begin now. */
  async previewDue(now: number): Promise<JobDue[]> {
    if (!this.isLoaded) return [];
    const { jobs, previewDue } = await this.#running();
    return previewDue(this.#deps.core.reader, jobs.scheduler.jobs, now);
  }

  /** For metrics. Undefined while no job was ever there. Rejects while the database cannot be read. */
  async figures(): Promise<JobFigures | undefined> {
    return this.#loaded?.jobs.figures();
  }

  /** The items of runs that ended are noted soon. */
  itemEnded(): void {
    this.#loaded?.jobs.itemEnded();
  }

  /** Takes the file in now, as at a reload. Throws `restart_required` alone: then svc was replaced on the disk. Before the start it does nothing: that takes the file in. */
  async takeInNow(): Promise<void> {
    if (!this.#isStarted || (!this.isLoaded && !this.#watch.isThere())) return;
    try {
      await (await this.#running()).jobs.takeInNow();
    } catch (error) {
      if (error instanceof SvcError && error.code === 'restart_required') throw error;
      this.#failed(error);
    }
  }

  /** The storage may fail just now: jobs then try again themselves. */
  #hasStored(): Promise<boolean> {
    return hasGoodSet(this.#deps.core.reader).catch(() => true);
  }

  #wait(): void {
    this.#timer?.cancel();
    this.#timer = this.#deps.core.clock.after(LOOK_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    try {
      if (this.#watch.isReady()) await this.#running();
    } catch (error) {
      this.#failed(error);
    }
    if (this.#isStarted && !this.isLoaded) this.#wait();
  }

  async #running(): Promise<Loaded> {
    this.#loading ??= load(this.#deps);
    try {
      this.#loaded = await this.#loading;
    } catch (error) {
      this.#loading = undefined; // the next look tries again
      throw error;
    }
    this.#told = undefined;
    if (this.#isStarted) await this.#loaded.jobs.start();
    return this.#loaded;
  }

  #failed(error: unknown): void {
    const reason = messageOf(error);
    if (reason === this.#told) return;
    this.#told = reason;
    this.#deps.core.log.warn({ error: reason }, 'scheduled jobs: tried again in a second');
  }
}

const pathOf = ({ project }: Pick<JobsHostDeps, 'project'>): string => join(project, JOBS_FILE);

async function load(deps: JobsHostDeps) {
  const { createJobsAdmin, Jobs, JOBS_SLOT, previewDue } = await import('../jobs/index.ts');
  const { core, engine, workroom, admit } = deps;
  const { inbox, timers, gate, dispatcher, runtime } = engine;
  const items = createInboxAdmin({ core, inbox, dispatcher });
  const targets = (): JobTargets | undefined => targetsOf(engine, workroom());
  const zone = (): string => runtime.loaded.config.schedule.timezone;
  const jobs = new Jobs({
    core,
    path: pathOf(deps),
    inbox,
    timers,
    targets,
    isPaused: () => gate.state?.state !== 'open',
    zone,
    stored: () => dispatcher.wake(),
    needPlugin: () => runtime.addHidden(JOBS_SLOT, HIDDEN.jobs),
    dropItem: async (id: string, statements: readonly Statement[]) => {
      const caller = { actor: 'job', scope: 'full', requestId: '' } as const;
      await items.drop(id, { caller, revision: undefined, reason: 'its job was removed', keep: () => statements });
    },
  });
  return { jobs, previewDue, admin: createJobsAdmin({ core, jobs, targets, zone, admit }) };
}

/** Undefined while no generation serves. */
function targetsOf(
  { runtime, endpoints }: Engine,
  workroom: ReturnType<JobsHostDeps['workroom']>,
): JobTargets | undefined {
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
